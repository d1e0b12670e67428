"""The report of `diagnose`: one row for each cluster, a summary, advice in words, and every form to read it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tensors import Floats, Ints
from ..valley import Splits
from .verdicts import (
    BIASES,
    EQUAL_SIZES,
    MIN_POINTS,
    MODE_ISOLATION,
    OK,
    ONE_BODY,
    OVERLAP,
    SPARSE_SUBSET,
    TOO_FEW,
    UNRELATED,
)

if TYPE_CHECKING:
    from .description import Description


#: Clusters named in a sentence; the table has all.
_NAMED = 5


@dataclass(frozen=True)
class ClusterReport:
    """One cluster of a diagnosed clustering.

    Attributes
    ----------
    label : object
        As the user gave it.
    size : int or float
        Its rows, or their weight where weights were given.
    share : float
        Of all points that are not noise.
    density : float
        Median density of the cluster as a quantile of the data's: 0.9 is denser than 90 % of the points.
    border_density : float
        Density on the highest pass of its border over the median density inside: 1 and more where the border
        runs through a dense region, near 0 where a valley separates the cluster from its neighbour; 0 without one.
    conductance : float
        Share of the edges of its points, in the neighbour graph, that leave it.
    neighbor : object
        The cluster across the border the verdict rests on; None where none touches it.
    verdict : str
        One of :data:`evencut.diagnosis.VERDICTS`, as in :class:`BiasReport`.
    confidence : float
        How clear its border is, from 0.5 to 1; the confidence of the report weighs all borders and the cures tried.
    """

    label: Any
    size: int | float
    share: float
    density: float
    border_density: float
    conductance: float
    neighbor: Any
    verdict: str
    confidence: float


@dataclass(frozen=True, eq=False)
class TriedCure:
    """A clustering that was tried in place of the given one, and judged by the same measures.

    Attributes
    ----------
    model : estimator
        Unfitted, with its parameters.
    code : str
        The line that makes it.
    verdict : str
        Of its own clusters, by their borders.
    before, after : float
        How much of the given clustering, and of this one, lies in clusters without a valley: 0 to 1, in points or
        in clusters, whichever is more.
    moved : list
        Names of the given clusters that it draws otherwise, of those that are not ok.
    better : bool
        Whether much less of it lies in clusters without a valley, some of those clusters are drawn otherwise, and it
        separates two bodies or more.
    n_bodies : int
        Populations among its clusters: those that the valley test shows, or large pieces of the neighbour graph.
    offered : bool
        Whether it is advised: better, with little left, and no small fragments split off.
    reason : str
        Why, or why not.
    n_tried : int
        Points it was tried on.
    labels : ndarray or None
        Its clusters, one a row given, -1 for rows left out; None where it was tried on a sample.
    """

    model: Any
    code: str
    verdict: str
    before: float
    after: float
    moved: list[Any]
    better: bool
    n_bodies: int
    offered: bool
    reason: str
    n_tried: int
    labels: Ints | None = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the model and the labels, in plain Python types."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in ("model", "labels")}


def named_clusters(rows: Sequence[ClusterReport]) -> str:
    """The clusters by name, the first few of many.

    Examples
    --------
    >>> row = ClusterReport("a", 3, 0.5, 0.5, 0.0, 0.0, None, "ok", 1.0)
    >>> named_clusters([row]), named_clusters([row] * 9)
    ('cluster a', 'clusters a, a, a, a, a and 4 more')
    """
    names = [str(row.label) for row in rows]
    if len(names) > _NAMED + 1:
        names[_NAMED - 1 :] = [f"{names[_NAMED - 1]} and {len(names) - _NAMED} more"]
    return ("cluster " if len(rows) == 1 else "clusters ") + ", ".join(names)


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.01 else f"{max(share, 0.001):.1%}"


@dataclass(frozen=True, eq=False)
class Pictures:
    """What the pictures of a report are drawn from: a thinned plane view and the border profiles."""

    plane: Floats
    density: Floats
    codes: Ints
    projected: bool
    profiles: list[tuple[Floats, Floats] | None]


@dataclass(frozen=True, eq=False)
class BiasReport:
    """Whether a clustering is biased by density, how, and what cures it; see :func:`evencut.diagnose`.

    Attributes
    ----------
    biased : bool
        Whether the verdict is one of the three biases.
    verdict : str
        The most serious finding. "ok": every border lies in a valley of the density, or in a gap. "mode isolation": a
        dense piece is cut out of a larger group. "sparse subset": a few sparse or isolated points are split off. "equal
        sizes": a group is cut in two, and a clustering that was tried cuts along a valley instead. "overlap": a border
        runs through a dense region, and no clustering that was tried is clearly better. "one body": the valley
        test shows no split, neither of the given clusters nor of any that were tried.
        "unrelated": labels depend neither on the neighbours of
        a point nor on its density. "too few points": not ok, but too few points to decide.
    confidence : float
        Calibrated probability that the verdict is right (:mod:`evencut.diagnosis.verdicts` describes how it was
        measured).
    clusters : list of ClusterReport
        One entry for each cluster.
    splits : Splits
        The valley test (:mod:`evencut.valley`) for the joins of a tree over the clusters, corrected for all of them.
        Print it; `splits.is_real()` says which joins part two populations.
    advice : str
        What to do, in words.
    code : str
        A line to paste that was tried and is better; empty if nothing is wrong or nothing helps.
    cures : list of TriedCure
        What was tried, and how it compares; empty if the verdict is ok.
    preparation : list of str
        What was done to the rows before they were judged, in sentences: columns scaled, copies merged.
    n_points, n_noise, n_distinct, n_judged : int
        Rows given, left out as noise, distinct points among the others, and points used (fewer for very large data).
    degree_spread : float
        Coefficient of variation of the node degrees of the kernel.
    criteria_gap : float
        Relative difference of the energies of average association and normalised cut on the kernel, in the
        same unit; zero where all degrees are equal and the criteria are one.
    kernel : str
        The kernel the two numbers above speak of.
    n_components : int
        Connected pieces of the neighbour graph.
    joining_neighbors : int or None
        Neighbours a point that would join them all; None for very many pieces far apart.
    n_neighbors : int
        Neighbours a point of that graph.
    dimension : float
        Intrinsic dimension used for densities.
    """

    verdict: str
    confidence: float
    clusters: list[ClusterReport]
    splits: Splits
    advice: str
    code: str
    cures: list[TriedCure]
    preparation: list[str]
    n_points: int
    n_noise: int
    n_distinct: int
    n_judged: int
    degree_spread: float
    criteria_gap: float
    kernel: str
    n_components: int
    joining_neighbors: int | None
    n_neighbors: int
    dimension: float
    pictures: Pictures = field(repr=False)

    @property
    def biased(self) -> bool:
        """Whether the verdict is one of the three biases."""
        return self.verdict in BIASES

    def to_dict(self) -> dict[str, Any]:
        """Everything but the pictures and the labels of cures, in plain Python types."""
        skipped = ("pictures", "clusters", "cures", "splits")
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in skipped}
        cures = [cure.to_dict() for cure in self.cures]
        clusters, splits = [asdict(row) for row in self.clusters], [split.to_dict() for split in self.splits]
        return {"biased": self.biased, **plain, "cures": cures, "clusters": clusters, "splits": splits}

    def to_frame(self) -> Any:
        """The rows of the clusters as a pandas frame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas, or use to_dict().") from error
        return pd.DataFrame([asdict(row) for row in self.clusters]).set_index("label")

    def to_html(self, path: str | Path, description: Description | None = None) -> Path:
        """Write one self-contained HTML file: density map, border profiles, table and advice.

        Parameters
        ----------
        path : str or Path
        description : Description, optional
            What :func:`describe` says of the same clusters, to stand beside their verdicts.
        """
        from .html import page

        path = Path(path)
        path.write_text(page(self, description), encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        from .html import fragment

        return fragment(self)

    def __repr__(self) -> str:
        return f"BiasReport(verdict={self.verdict!r}, confidence={self.confidence:.2f}, clusters={len(self.clusters)})"

    def __str__(self) -> str:
        """A table for the terminal, the numbers of the whole, and the advice."""
        code = ["", f"    {self.code}"] if self.code else []
        return "\n".join([self.headline(), "", *self._table(), "", *self.summary(), "", self.advice, *code])

    def headline(self) -> str:
        """The verdict in one line."""
        where = named_clusters([row for row in self.clusters if row.verdict == self.verdict])
        sentence = {
            OK: "ok: no density bias found",
            OVERLAP: f"overlap: no better border is known for {where}",
            ONE_BODY: f"one body: no split has a valley of the density, so that {where} may be parts of one body",
            UNRELATED: "unrelated: these labels have nothing to do with the points",
            TOO_FEW: f"too few points: {self.n_distinct} points are too few to judge by",
        }.get(self.verdict, f"biased: {self.verdict} in {where}")
        sure = "" if self.verdict in (OK, TOO_FEW) else f" (confidence {self.confidence:.0%})"
        noise = f"; {_percent(self.n_noise / self.n_points)} of the rows are noise, left out" if self.n_noise else ""
        return sentence + sure + noise

    def summary(self) -> list[str]:
        """The numbers of the whole, one sentence each."""
        lines = [f"{self.n_points} points in {len(self.clusters)} clusters, intrinsic dimension {self.dimension:.1f}."]
        if self.n_noise:
            lines.append(f"{self.n_noise} noise points (label -1) left out.")
        lines += self.preparation
        if self.n_judged < self.n_distinct:
            lines.append(f"Judged on a random sample of {self.n_judged} points.")
        pieces = "is connected."
        if self.n_components > 1:
            joining = self.joining_neighbors or "no small number of"
            pieces = f"has {self.n_components} pieces; {joining} neighbours would join them."
        lines.append(f"The {self.n_neighbors}-neighbour graph {pieces}")
        if self.splits:
            n_real = int(self.splits.is_real().sum())
            lines.append(f"The valley test shows {n_real} of {len(self.splits)} splits to be real (5 % level).")
        affinity = "the affinity" if self.kernel == "given" else f"the {self.kernel} kernel"
        lines.append(
            f"Degrees of {affinity} vary by {self.degree_spread:.0%}; average association and "
            f"normalised cut differ by {self.criteria_gap:.1%} on this clustering."
        )
        return lines

    def _table(self) -> list[str]:
        heads = ("cluster", "size", "share", "denser than", "border", "conductance", "verdict")
        rows = [heads, *self.cells()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        # Names to the left, numbers to the right.
        sides = "<>>>>><"
        return ["  ".join(f"{c:{side}{w}}" for c, side, w in zip(row, sides, widths)).rstrip() for row in rows]

    def cells(self) -> list[tuple[str, ...]]:
        """The rows of the table as text."""
        return [
            (
                str(row.label),
                str(row.size),
                f"{row.share:.1%}",
                f"{row.density:.0%}",
                f"{row.border_density:.2f}" if row.neighbor is not None else "none",
                f"{row.conductance:.3f}",
                row.verdict,
            )
            for row in self.clusters
        ]


_WHY = {
    MODE_ISOLATION: (
        "{who} a dense piece cut out of a larger body: beyond the border the density only falls, there is no "
        "valley. Kernel k-means with a narrow fixed bandwidth, and dominant sets, isolate modes like this "
        "(Breiman's bias)."
    ),
    SPARSE_SUBSET: (
        "{who} a few sparse or isolated points at the rim of a larger body. Cuts with a narrow fixed bandwidth, "
        "normalised cut among them, split off such subsets because they are cheap to cut."
    ),
    EQUAL_SIZES: (
        "The border of {whose} runs through a dense region, not along a valley. K-means, and kernels of a large "
        "bandwidth, cut a body into parts of like size like this."
    ),
    OVERLAP: (
        "The border of {whose} runs through a dense region, and nothing that was tried finds a valley. The classes "
        "overlap there, or there are fewer bodies than clusters; density cannot tell where to cut."
    ),
    ONE_BODY: (
        "The border of {whose} runs through a dense region, and no split that was tested has a valley of the density: "
        "nothing shows more than one population. Any method cuts one body into as many parts as you request."
    ),
}
#: Nothing is tried against these.
_FINAL = {
    OK: "Nothing to cure: every border lies in a valley of the density or a gap between the points.",
    UNRELATED: (
        "The neighbours of a point have its label no more often than chance would have it, and no cluster is denser "
        "than others. Check that labels and points are in the same order, and that the columns are those that were "
        "clustered, in the same units; otherwise the labels say nothing about these points."
    ),
    TOO_FEW: f"Give at least {MIN_POINTS} distinct points: among fewer, chance makes every kind of border.",
}
_UNTRIED = {
    MODE_ISOLATION: "Even the density out: use an adaptive kernel, or scale a given affinity to equal degrees.",
    SPARSE_SUBSET: "Even the density out with an adaptive kernel, or remove the outliers before clustering.",
    EQUAL_SIZES: "Use a kernel that follows the data, with neighbours instead of a bandwidth for all points.",
}
_HELPLESS = {
    MODE_ISOLATION: "Try fewer clusters: the body around the piece may be one.",
    SPARSE_SUBSET: "Remove the outliers before clustering, or try fewer clusters.",
    OVERLAP: "Keep the clusters if their meaning comes from elsewhere, or try fewer.",
    ONE_BODY: "Keep the parts if you wanted parts of one body.",
}


def advise(
    verdict: str, rows: Sequence[ClusterReport], cures: Sequence[TriedCure], n_points: int
) -> tuple[str, str]:
    """Words and code for the verdict on a clustering of `n_points` distinct points, after these cures were tried."""
    if verdict in _FINAL:
        return _FINAL[verdict], ""
    guilty = [row for row in rows if row.verdict == verdict]
    who = f"Cluster {guilty[0].label} is" if len(guilty) == 1 else f"Each of the {named_clusters(guilty)} is"
    lines = [_WHY[verdict].format(who=who, whose=named_clusters(guilty))]
    other_verdicts = sorted({row.verdict for row in rows} - {OK, verdict})
    if other_verdicts:
        lines.append(f"Other clusters show: {', '.join(other_verdicts)}.")
    lines += [describe_cure(cure, rows, n_points) for cure in cures]
    offered = [cure.code for cure in cures if cure.offered]
    if offered:
        return "\n".join([*lines, "The line that was tried:"]), offered[0]
    if not cures:
        lines.append(_UNTRIED.get(verdict) or _HELPLESS[verdict])
    else:
        helps = "is sure to help" if any(cure.better for cure in cures) else "helps"
        lines.append(f"Nothing that was tried {helps}. {_HELPLESS[verdict]}")
    return "\n".join(lines), ""


def describe_cure(cure: TriedCure, rows: Sequence[ClusterReport], n_points: int) -> str:
    """What was tried and what came of it, in a sentence."""
    model = repr(cure.model)
    if cure.n_tried < n_points:
        model += f" on a random sample of {cure.n_tried} points"
    change = f"without a valley before {cure.before:.0%}, after {cure.after:.0%}"
    if not cure.offered:
        return f"Tried {model}: {'better, but' if cure.better else 'not better,'} {cure.reason} ({change})."
    borders = "border" if len(cure.moved) == 1 else "borders"
    moved = named_clusters([row for row in rows if row.label in cure.moved])
    return f"Tried {model}: it moves the {borders} of {moved} into a valley ({change})."
