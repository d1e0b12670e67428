"""`evencut demo`: the bias of plain kernel k-means and its cure, on an embedded data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from evencut.cli.console import progress, say
from evencut.cli.options import Seed
from evencut.cli.outputs import atomic_write, check_picture, make_folder, save_figure


def demo(
    out: Annotated[
        str, Option(metavar="FOLDER", help="Folder for demo.png, points.csv and labels.csv; created if missing.")
    ] = "out",
    seed: Seed = 0,
) -> None:
    """Cluster two moons, one with a dense clump, with plain kernel k-means and with evencut."""
    from sklearn.metrics import adjusted_rand_score

    from evencut import EvenCut, KernelKMeans
    from evencut.datasets import make_clumped_moons
    from evencut.io import write_table
    from evencut.kernels import Gaussian

    folder = make_folder(out)
    picture, points_file, labels_file = folder / "demo.png", folder / "points.csv", folder / "labels.csv"
    check_picture(picture)
    plain = KernelKMeans(2, kernel=Gaussian(bandwidth="scott"), random_state=seed)
    methods = {"kernel k-means": plain, "evencut": EvenCut(2, random_state=seed)}
    with progress() as step:
        X, y = make_clumped_moons(600, clump=0.5, random_state=seed)
        labels_by = {}
        for name, estimator in methods.items():
            step(f"clustering with {name}")
            labels_by[name] = estimator.fit(X).labels_
        scores = {name: adjusted_rand_score(y, labels) for name, labels in labels_by.items()}
        step("drawing")
        _draw(picture, X, labels_by, scores)
        points = {"x": X[:, 0], "y": X[:, 1]}
        labels = {"true": y, "kernel_kmeans": labels_by["kernel k-means"], "evencut": labels_by["evencut"]}
        for path, columns in ((points_file, points), (labels_file, points | labels)):
            with atomic_write(path) as file:
                write_table(file, str(path), columns)
    _print_table(labels_by, scores)
    say(f"wrote {picture}, {points_file} and {labels_file}")


def _print_table(labels_by: dict[str, Any], scores: dict[str, float]) -> None:
    import numpy as np
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table("method", "cluster sizes", "ARI", box=SIMPLE_HEAD)
    for name, labels in labels_by.items():
        table.add_row(name, " + ".join(map(str, np.bincount(labels))), f"{scores[name]:.2f}")
    Console().print(table)


def _draw(picture: Path, X: Any, labels_by: dict[str, Any], scores: dict[str, float]) -> None:
    from evencut.plotting import ClusterDisplay, make_figure

    figure, axes = make_figure(ncols=len(labels_by), size=(8, 3))
    for ax, (name, labels) in zip(axes, labels_by.items()):
        ClusterDisplay.from_labels(X, labels, ax=ax, title=f"{name} (ARI {scores[name]:.2f})", legend=False, s=10)
        ax.set(aspect="equal", xticks=[], yticks=[])
    save_figure(figure, picture)
