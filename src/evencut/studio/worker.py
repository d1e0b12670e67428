"""A worker process: takes one task at a time from its pipe, tells its progress, and answers.

It may be killed at any moment; what it keeps (points, photos, half-done cut-outs) can always be sent or made again.
"""

from __future__ import annotations

import re
import signal
import sys
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from .refusals import Refused, TooLarge

Tell = Callable[[str, float | None], None]

_STEP = re.compile(r"(\d+)/(\d+) (.+?) \(")


class _StepReader:
    """Stands for stderr during a task: the steps that fits tell with `verbose=1` become progress."""

    def __init__(self, tell: Tell, real: Any):
        self._tell = tell
        self._real = real

    def write(self, text: str) -> int:
        found = _STEP.search(text)
        if found:
            number, total, name = found.groups()
            self._tell(name, (int(number) - 1) / int(total))
        elif text.strip() and not text.strip().startswith("["):
            self._real.write(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""

    def isatty(self) -> bool:
        """Lines, not a moving bar."""
        return False


def work(pipe: Connection) -> None:
    """Serve tasks until the other end of the pipe is closed."""
    # Ctrl-C is the server's business: it closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from threadpoolctl import threadpool_limits

    from .tasks import TASKS

    # Fits of a page are many and small; threads of linear algebra would only wait for each other.
    threadpool_limits(1)
    kept: dict[str, Any] = {}
    pipe.send(("ready", None))
    while True:
        try:
            kind, *message = pipe.recv()
        except (EOFError, OSError):
            return
        if kind == "keep":
            kept[message[0]] = message[1]
        elif kind == "drop":
            kept.pop(message[0], None)
        else:
            task, arguments = message
            pipe.send(("begun", None))
            pipe.send(_answer(TASKS[task], kept, arguments, lambda *step: pipe.send(("progress", step))))


def _answer(task: Callable[..., Any], kept: dict[str, Any], arguments: dict[str, Any], tell: Tell) -> tuple:
    """The answer to send: done, or failed with what the user should know."""
    real, sys.stderr = sys.stderr, _StepReader(tell, sys.stderr)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            result = task(kept, arguments, tell)
        return "done", (result, list(dict.fromkeys(str(warning.message) for warning in caught)))
    except Refused as refused:
        return "failed", refused
    except MemoryError:
        return "failed", TooLarge("this takes more memory than there is for it; take fewer rows, or a kernel like knn.")
    except (ValueError, TypeError) as error:
        return "failed", Refused(" ".join(str(error).split()))
    except Exception as error:
        return "failed", Refused(f"this is a bug in evencut: {type(error).__name__}: {error}", 500)
    finally:
        sys.stderr = real
