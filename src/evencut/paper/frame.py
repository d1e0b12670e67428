"""What every reproduced figure is made of: the picture, the numbers behind it, and a verdict for each claim.

A module of this package has one function `make` that returns a `Figure`; nothing else is asked of it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["OURS", "Claim", "DataMissing", "Figure", "find_data", "share_in_largest"]

#: How a claim begins that is not in the paper.
OURS = "(Not in the paper.)"


class DataMissing(Exception):
    """The figure needs data that was not given; the message says which and how to give it."""


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, in our words, beside what was measured.

    Parameters
    ----------
    says : str
        What the paper claims.
    measured : str
        What came out here.
    verdict : {"pass", "fail", "not tested"}
        "not tested" means: what was measured here cannot decide it, and `why` says what is missing.
    why : str
        Stands beside a verdict that is no pass and says where it comes from; it never changes the verdict.
    at : str
        Where the paper says it, as in "eq. 9", where that is not the figure itself.
    """

    says: str
    measured: str
    verdict: str
    why: str = ""
    at: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether the paper does not say it, and we want to know all the same."""
        return self.says.startswith(OURS)

    @classmethod
    def judge(cls, says: str, measured: str, holds: Any, why: str = "", at: str = "") -> Claim:
        """The claim with its verdict; None for `holds` says that it was not tested, and `why` goes with no pass.

        Examples
        --------
        >>> Claim.judge("two is even", "2 % 2 = 0", 2 % 2 == 0).verdict
        'pass'
        """
        if holds is None:
            return cls(says, measured, "not tested", why, at)
        return cls(says, measured, "pass", "", at) if holds else cls(says, measured, "fail", why, at)


@dataclass(frozen=True)
class Figure:
    """A reproduced figure or table.

    Parameters
    ----------
    name : str
        As given on the command line.
    title : str
    caption : str
        What is seen, in one or two sentences.
    picture : matplotlib Figure
    claims : list of Claim
    numbers : dict
        The measured numbers, plain enough for JSON once arrays are lists.
    """

    name: str
    title: str
    caption: str
    picture: Any
    claims: list[Claim]
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The worst verdict of its claims."""
        found = {claim.verdict for claim in self.claims}
        return next(v for v in ("fail", "not tested", "pass") if v in found or v == "pass")

    @property
    def surprises(self) -> list[Claim]:
        """The claims that fail for no known reason: a mistake of ours until someone finds another."""
        return [claim for claim in self.claims if claim.verdict == "fail" and not claim.why]

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
        return {
            "name": self.name,
            "title": self.title,
            "caption": self.caption,
            "verdict": self.verdict,
            "claims": [asdict(claim) for claim in self.claims],
            "numbers": _plain(self.numbers),
        }


def find_data(data: Path | None, *parts: str) -> Path:
    """The path of a file in the data folder; `DataMissing` where it is not there.

    Examples
    --------
    >>> find_data(None, "labelme", "features.npz")
    Traceback (most recent call last):
    evencut.paper.frame.DataMissing: needs labelme/features.npz; give the data folder with --data or EVENCUT_DATA.
    """
    wanted = "/".join(parts)
    if data is None:
        raise DataMissing(f"needs {wanted}; give the data folder with --data or EVENCUT_DATA.")
    path = data.joinpath(*parts)
    if not path.exists():
        raise DataMissing(f"needs {wanted}, which is not in {data}; give another data folder with --data.")
    return path


def share_in_largest(labels: Any) -> float:
    """Share of the points that lie in the largest cluster.

    Examples
    --------
    >>> share_in_largest([0, 0, 0, 1])
    0.75
    """
    labels = np.asarray(labels)
    return float(np.bincount(labels).max() / len(labels))


def _plain(value: Any) -> Any:
    """Arrays and numpy numbers as plain ones, rounded to what a reader can use."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    return float(f"{value:.6g}") if isinstance(value, float) else value
