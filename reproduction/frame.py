"""What every reproduced figure is made of: a picture, the numbers behind it, and verdicts on what the paper says.

What the paper says stands in `claims.toml`, with the limits that decide it; what was measured is handed to a `Run`. A
claim about a criterion is judged twice: by Lloyd's steps, and at the lowest energy that evencut finds.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import resources
from multiprocessing import get_context
from pathlib import Path
from string import Formatter
from typing import Any, Generic, TypeVar

import numpy as np

from .solver import LOWEST, STEPS, Solver

T = TypeVar("T")

#: How a number that was measured is compared with a limit of `claims.toml`.
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "above": np.greater,
    "below": np.less,
    "at_least": np.greater_equal,
    "at_most": np.less_equal,
    "equal": np.equal,
}


class DataMissing(Exception):
    """The figure needs data that was not given; the message says which and how to give it."""


@cache
def _read_texts() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("claims.toml").read_text(encoding="utf-8"))


#: Every figure by name: its title, its caption, the part of the paper, the function that makes it, and its claims.
TEXTS: dict[str, Any] = _read_texts()["figure"]
#: Every numbered equation: the functions that state it, and whether it defines a term.
EQUATIONS: dict[str, Any] = _read_texts()["equations"]
#: Sentences of the paper that nothing here decides: where, what it says, and why.
UNTESTED: list[dict[str, str]] = _read_texts()["untested"]


@dataclass(frozen=True)
class Verdict:
    """What was measured, and whether the claim holds: "pass", "fail" or "not tested".

    "not tested" means: what was measured cannot decide the claim. `why` stands beside a verdict that is no pass and
    says where it comes from; it never changes the verdict.
    """

    measured: str
    verdict: str
    why: str = ""

    @classmethod
    def of(cls, measured: str, holds: Any, why: str = "") -> Verdict:
        """The verdict; None for `holds` says that nothing was decided.

        Examples
        --------
        >>> Verdict.of("2 % 2 = 0", 2 % 2 == 0, why="not needed")
        Verdict(measured='2 % 2 = 0', verdict='pass', why='')
        """
        if holds is None:
            return cls(measured, "not tested", why)
        return cls(measured, "pass") if holds else cls(measured, "fail", why)


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, in our words.

    Parameters
    ----------
    says : str
    steps : Verdict
        By Lloyd's steps; the only verdict where nothing is optimised.
    lowest : Verdict, optional
        At the lowest energy found.
    at : str
        Where the paper says it, as in "eq. 9", where that is not the figure itself.
    ours : bool
        The paper does not say it, and we want to know all the same.
    """

    says: str
    steps: Verdict
    lowest: Verdict | None = None
    at: str = ""
    ours: bool = False

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict, or both."""
        return (self.steps,) if self.lowest is None else (self.steps, self.lowest)


def worst(verdicts: Any) -> str:
    """The worst of some verdicts, given as words.

    Examples
    --------
    >>> worst(["pass", "not tested"])
    'not tested'
    """
    seen = set(verdicts)
    return next(v for v in ("fail", "not tested", "pass") if v in seen or v == "pass")


@dataclass(frozen=True)
class Figure:
    """A reproduced figure or table: its name for the command, words, matplotlib picture, claims and numbers."""

    name: str
    title: str
    caption: str
    picture: Any
    claims: list[Claim]
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The worst verdict of its claims."""
        return worst(v.verdict for claim in self.claims for v in claim.verdicts)

    @property
    def surprises(self) -> list[Claim]:
        """The claims that fail for no known reason: a mistake of ours until someone finds another."""
        return [c for c in self.claims if any(v.verdict == "fail" and not v.why for v in c.verdicts)]

    def save(self, folder: Path) -> list[Path]:
        """Write NAME.png, NAME.svg and NAME.json; the same figure gives the same bytes."""
        import matplotlib

        folder.mkdir(parents=True, exist_ok=True)
        paths = [folder / f"{self.name}.{suffix}" for suffix in ("png", "svg", "json")]
        with matplotlib.rc_context({"svg.hashsalt": self.name}):
            self.picture.savefig(paths[0], dpi=130)
            self.picture.savefig(paths[1], metadata={"Date": None})
        paths[2].write_text(json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return paths

    def as_dict(self) -> dict[str, Any]:
        """All but the picture, ready for JSON."""
        words = {"name": self.name, "title": self.title, "caption": self.caption, "verdict": self.verdict}
        return words | {"claims": [asdict(claim) for claim in self.claims], "numbers": _plain(self.numbers)}


@dataclass(frozen=True)
class Both(Generic[T]):
    """What was measured with Lloyd's steps and at the lowest energy found."""

    steps: T
    lowest: T


class Named(dict[str, Any]):
    """Numbers by name that show themselves in a sentence.

    Examples
    --------
    >>> f"ARI {Named(KNN=1.0, Gaussian=0.125):.2f}"
    'ARI KNN 1.00; Gaussian 0.12'
    """

    def __format__(self, form: str) -> str:
        return "; ".join(f"{name} {value:{form}}" for name, value in self.items())


class Run:
    """One figure in the making: what it may read, and the verdicts so far.

    Parameters
    ----------
    name : str
    data : Path, optional
        Folder with the real data.
    small : bool
        Fewer points and coarser sweeps: the same claims in a fraction of the time.
    """

    def __init__(self, name: str, data: Path | None = None, small: bool = False) -> None:
        self.name, self.data, self.small = name, data, small
        self.text = TEXTS[name]
        self.claims: dict[str, list[Claim]] = {key: [] for key in self.text["claims"]}
        self.by: Both[Any] | None = None
        self.numbers: dict[str, Any] = {}
        #: What the caption and the sentences on what was measured may tell.
        self.words: dict[str, Any] = {}

    def find(self, *parts: str) -> Path:
        """The path of a file in the data folder; `DataMissing` where it is not there."""
        return find_data(self.data, *parts)

    def both(self, measure: Callable[[Solver], T]) -> Both[T]:
        """Measure with Lloyd's steps, and at the lowest energy found: `m` in the claims about a criterion."""
        self.by = Both(measure(STEPS), measure(LOWEST))
        return self.by

    def decide(self, key: str, holds: Any, why: str = "", **words: Any) -> None:
        """Judge a claim that limits alone cannot decide; `words` fill in what its sentences leave open."""
        self._enter(key, words, self._verdict(key, self.words | words, holds, why=why))

    def judge(self, key: str, by: Both[Any] | None = None, **words: Any) -> None:
        """Judge a claim by its limits: once, or for what either solver found."""
        every = [self.words | words] if by is None else [self.words | words | {"m": m} for m in (by.steps, by.lowest)]
        kinds = ("why", "why_lowest")
        claim = self.text["claims"][key]
        self._enter(key, words, *(self._verdict(key, of, _is_kept(claim, of), kind) for of, kind in zip(every, kinds)))

    def _verdict(self, key: str, words: dict[str, Any], holds: Any, kind: str = "why", why: str = "") -> Verdict:
        claim = self.text["claims"][key]
        return Verdict.of(claim["measured"].format(**words), holds, why or claim.get(kind) or claim.get("why", ""))

    def _enter(self, key: str, words: dict[str, Any], steps: Verdict, lowest: Verdict | None = None) -> None:
        claim = self.text["claims"][key]
        says, at = (claim.get(one, "").format(**words) for one in ("says", "at"))
        self.claims[key].append(Claim(says, steps, lowest, at, claim.get("ours", False)))

    def figure(self, picture: Any) -> Figure:
        """The finished figure, every claim judged; one that has no limits and was not decided is an error."""
        for key, claim in self.text["claims"].items():
            limits = [name for side in _COMPARED for name in claim.get(side, ())]
            if not self.claims[key] and not limits:
                raise ValueError(f"{self.name} has not judged {key} of claims.toml.")
            if not self.claims[key]:
                self.judge(key, self.by if any(re.match(r"m\b", name) for name in limits) else None)
        claims = [claim for judged in self.claims.values() for claim in judged]
        caption = self.text["caption"].format(**self.words)
        return Figure(self.name, self.text["title"], caption, picture, claims, self.numbers)


def _is_kept(claim: dict[str, Any], words: dict[str, Any]) -> bool:
    """Whether what was measured is on the right side of every limit of a claim; of several numbers each one."""

    def measured(told: Any) -> Any:
        if not isinstance(told, str):
            return told
        factor, _, name = told.rpartition(" * ")
        value = Formatter().get_field(name, (), words)[0]
        numbers = list(value.values()) if isinstance(value, dict) else value
        return float(factor) * np.asarray(numbers) if factor else numbers

    return all(
        np.all(compare(measured(name), measured(limit)))
        for side, compare in _COMPARED.items()
        for name, limit in claim.get(side, {}).items()
    )


def in_processes(
    work: Callable[..., T], tasks: Mapping[str, tuple[Any, ...]], jobs: int, begin: Callable[[], None] | None = None
) -> Iterator[tuple[str, T]]:
    """Each task with what it gives: in their order, one after the other, or as processes finish them."""
    if jobs == 1 or len(tasks) < 2:
        for name, arguments in tasks.items():
            yield name, work(*arguments)
        return
    with ProcessPoolExecutor(min(jobs, len(tasks)), get_context("spawn"), begin) as pool:
        running = {pool.submit(work, *arguments): name for name, arguments in tasks.items()}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        finally:
            # On an interruption what has not begun is not begun.
            pool.shutdown(wait=False, cancel_futures=True)


def find_data(data: Path | None, *parts: str) -> Path:
    """The path of a file in the data folder; `DataMissing` where it is not there.

    Examples
    --------
    >>> find_data(None, "labelme", "features.npz")
    Traceback (most recent call last):
    reproduction.frame.DataMissing: needs labelme/features.npz; give the data folder with --data or EVENCUT_DATA.
    """
    wanted = "/".join(parts)
    if data is None:
        raise DataMissing(f"needs {wanted}; give the data folder with --data or EVENCUT_DATA.")
    path = data.joinpath(*parts)
    if not path.exists():
        raise DataMissing(f"needs {wanted}, which is not in {data}; give another data folder with --data.")
    return path


def _plain(value: Any) -> Any:
    """Arrays and numpy numbers as plain ones, rounded to what a reader can use."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    return float(f"{value:.6g}") if isinstance(value, float) else value
