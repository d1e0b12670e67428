"""The command `evencut`: each of its commands is a function whose signature is its options.

To add a command, write `cli/NAME.py` with a function `NAME` and add it to `COMMANDS`. Raise `console.UserError` for
what the user has to change.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from evencut.cli.console import UserError, as_options, one_line, say, warnings_in_one_line
from evencut.io import TableError

__all__ = ["COMMANDS", "build_app", "main", "run_app"]

#: The commands in the order of the help page: the module of `evencut.cli` with the function of that name, and the first
#: sentence of its docstring. The help page needs no module, and each command only its own.
COMMANDS = {
    "demo": ("demo", "Cluster two moons, one with a dense clump, with plain kernel k-means and with evencut."),
    "cluster": ("cluster", "Cluster the points in a file, or in several."),
    "predict": ("cluster", "Assign new points to the clusters of a saved model."),
    "describe": ("diagnose", "Describe each cluster: its size, typical rows, and the columns that distinguish it."),
    "diagnose": ("diagnose", "Report whether a clustering is biased by density, how, and what cures it."),
    "segment": ("segment", "Cut an object out of a photo or a volume, or divide a photo into regions."),
    "segment-folder": ("segment_folder", "Cut objects out of many photos; run it again to continue."),
    "studio": ("studio", "Open the studio: cluster points and cut out photos in the browser."),
}
_USER_ERROR = 2
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Zero means done, 2 a mistake in what was given, 130 an interruption, 1 a fault of the program; or, from
    `diagnose`, a clustering that is biased, or unrelated to the points.
    """
    sys.exit(_run(list(sys.argv[1:] if arguments is None else arguments)))


def build_app(commands: Iterable[str] = COMMANDS) -> Any:
    """The typer application with every command of `COMMANDS`; those not among `commands` are names with a summary."""
    import typer

    from evencut.cli.options import PlainHelp

    app = typer.Typer(
        name="evencut",
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def show_version(is_set: bool) -> None:
        if is_set:
            from evencut import __version__

            print(f"evencut {__version__}")
            raise typer.Exit()

    @app.callback()
    def evencut(
        version: bool = typer.Option(
            False, "--version", help="Show the version and exit.", callback=show_version, is_eager=True
        ),
    ) -> None:
        """Kernel clustering, and cures for its density biases."""

    for name, (module, summary) in COMMANDS.items():
        function: Any = _not_loaded
        if name in commands:
            function = getattr(import_module(f"evencut.cli.{module}"), name.replace("-", "_"))
        app.command(name, short_help=summary, cls=PlainHelp)(function)
    return app


def _not_loaded() -> None:
    """Stands for a command that was not called."""


def _called(arguments: Sequence[str]) -> list[str]:
    """The commands among the arguments, and in the line that a shell wants completed."""
    line = " ".join(os.environ.get(name, "") for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS"))
    return [name for name in COMMANDS if name in (*arguments, *line.split())]


def _run(arguments: list[str]) -> int:
    """Load the command that is named, and run it."""
    if arguments[:1] == ["reproduce"]:
        say("error: the figures of the paper are made in the repository now: git clone it, then make paper")
        return _USER_ERROR
    return run_app(lambda: build_app(_called(arguments)), arguments or ["--help"], "evencut")


def run_app(build: Callable[[], Any], arguments: list[str], name: str) -> int:
    """Run a typer application and turn whatever goes wrong into one line and an exit code."""
    try:
        with warnings_in_one_line():
            code = build()(arguments, prog_name=name, standalone_mode=False)
        sys.stdout.flush()
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except KeyboardInterrupt:
        say("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has left.
        _abandon_output()
        return 1
    except (UserError, TableError, ModuleNotFoundError) as error:
        say(f"error: {_mistake(error)}")
        return _USER_ERROR
    except OSError as error:
        # A full disk, a place without rights: what files are on is the user's, and the fault is named by the system.
        _abandon_output()
        say(f"error: {error.filename or 'standard output'} cannot be used: {error.strerror or one_line(error)}.")
        return _USER_ERROR
    except Exception as error:
        return _report(error)


def _abandon_output() -> None:
    """Point standard output elsewhere, so that closing it does not fail too."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: Exception) -> int:
    # Typer's own errors are told by what they offer: it brings its own copy of click in some versions.
    if hasattr(error, "format_message"):
        command = getattr(getattr(error, "ctx", None), "command_path", "evencut")
        say(f"error: {one_line(ValueError(error.format_message()))} ({command} --help shows the options)")
        return _USER_ERROR
    if type(error).__name__ == "Abort":
        say("interrupted")
        return _INTERRUPTED
    if os.environ.get("EVENCUT_TRACEBACK"):
        raise error
    say(
        f"error: this is a bug in evencut: {type(error).__name__}: {one_line(error)} "
        "(set EVENCUT_TRACEBACK=1 to see where, and please report it)"
    )
    return 1


def _mistake(error: UserError | TableError | ModuleNotFoundError) -> str:
    """What the user has to change, with options as on the command line."""
    if isinstance(error, TableError):
        return as_options(error)
    if isinstance(error, ModuleNotFoundError) and error.name in ("typer", "rich"):
        return f'the command line needs {error.name}, which is not installed: pip install "evencut[cli]"'
    return one_line(error) if isinstance(error, ModuleNotFoundError) else str(error)
