"""`evencut reproduce`: the figures and tables of the paper, each with a verdict for every claim."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, check_name
from evencut.cli.options import whole_number
from evencut.cli.outputs import make_folder, whole_file
from evencut.cli.photo_table import make_table1

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[str, typer.Argument(help="A figure or table, or all; a wrong name lists the right ones.")],
    data: Annotated[
        str | None, typer.Option(help="Folder with the real data; EVENCUT_DATA by default.", show_default=False)
    ] = None,
    out: Annotated[str, typer.Option(help="Folder for the pictures and numbers; made if need be.")] = "out/paper",
    jobs: Annotated[
        int, typer.Option(parser=whole_number("--jobs", 1), metavar="N", help="Photos of table1 at a time.")
    ] = 1,
    subset: Annotated[
        int | None,
        typer.Option(
            parser=whole_number("--subset", 1),
            metavar="N",
            help="Only so many photos of table1 and what explains it.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make figures and tables of the paper again and judge its claims; 1 if one fails and we cannot say why."""
    from evencut.paper import FIGURES, DataMissing
    from evencut.paper.results import results_of
    from evencut.plotting import require_matplotlib

    check_name("figure", name, [*FIGURES, "all"])
    require_matplotlib()
    source, folder = _data_folder(data), make_folder(out)
    made, skipped = [], []
    for one in FIGURES if name == "all" else (name,):
        try:
            figure = _make(one, source, folder, jobs, subset)
        except DataMissing as reason:
            if name != "all":
                raise UserError(f"{one} {reason}") from reason
            skipped.append((one, str(reason)))
            say(f"skipped {one}: {reason}")
            continue
        figure.save(folder)
        made.append(figure)
        # At once: what is made stays made, whatever becomes of the rest.
        _renew_results(folder, results_of([figure]))
        _print(figure)
    if name == "all":
        _write_page(folder, made, skipped)
        _write_results(folder, results_of(made, skipped))
        _print_summary(made, skipped)
        say(f"wrote {folder / 'index.html'} and results.json")
    else:
        say(f"wrote {folder / name}.png, .svg and .json")
    if any(figure.surprises for figure in made):
        raise typer.Exit(1)


def _make(name: str, data: Path | None, folder: Path, jobs: int, subset: int | None) -> Any:
    """One figure; the table, which takes minutes, with a bar of its own and a folder to go on from."""
    from evencut.paper import make
    from evencut.paper.frame import find_data

    if name == "table1":
        find_data(data, "grabcut", "boxes.csv")
        rows = folder / "table1"
        make_table1(data, rows, jobs=jobs, subset=subset)
        return make(name, data=data, folder=rows, subset=subset)
    options: dict[str, Any] = {"subset": subset} if name.startswith("photo_") else {}
    with progress() as step:
        step(f"making {name}")
        return make(name, data=data, **options)


def _data_folder(data: str | None) -> Path | None:
    named = data or os.environ.get("EVENCUT_DATA")
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        source = "--data" if data else "EVENCUT_DATA"
        raise UserError(f"{source} {named} is not a folder; name the folder that holds labelme/ and grabcut/.")
    return folder


def _print(figure: Any) -> None:
    print(f"{figure.name}: {figure.title}")
    for claim in figure.claims:
        print(f"  {claim.verdict:10}  {claim.says}  [{claim.measured}]")
        if claim.why:
            print(f"{'':14}because {claim.why}")


def _print_summary(made: list[Any], skipped: list[tuple[str, str]]) -> None:
    """How many claims there are, and how many of them fail or could not be tested."""
    claims = [claim for figure in made for claim in figure.claims]
    for who, ours in (("of the paper", False), ("that are not in the paper", True)):
        chosen = [claim for claim in claims if claim.is_ours == ours]
        count = {verdict: sum(c.verdict == verdict for c in chosen) for verdict in ("pass", "fail", "not tested")}
        print(f"{len(chosen)} claims {who}: " + ", ".join(f"{number} {verdict}" for verdict, number in count.items()))
    if skipped:
        print(f"not made: {', '.join(name for name, _ in skipped)}")


def _write_results(folder: Path, results: dict[str, Any]) -> None:
    """What the documentation's page is made from."""
    with whole_file(folder / "results.json") as file:
        file.write((json.dumps(results, indent=1, ensure_ascii=False) + "\n").encode())


def _renew_results(folder: Path, new: dict[str, Any]) -> None:
    """Put one figure in the place of its former results, where all have been made in this folder before."""
    from evencut.paper import FIGURES

    path = folder / "results.json"
    if path.is_file():
        before = json.loads(path.read_text(encoding="utf-8"))
        made = {figure["name"]: figure for figure in [*before["figures"], *new["figures"]]}
        _write_results(folder, before | {"figures": [made[name] for name in FIGURES if name in made]})


def _write_page(folder: Path, made: list[Any], skipped: list[tuple[str, str]]) -> None:
    from evencut.paper.index_page import page

    with whole_file(folder / "index.html") as file:
        file.write(page(made, skipped).encode())
