"""`python -m reproduction`: the figures and tables of the paper, each with a verdict for every claim."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from evencut.cli import run_app
from evencut.cli.console import UserError, as_user_errors, check_name, counted, say
from evencut.cli.options import number_of
from evencut.cli.outputs import atomic_write, make_folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command()(reproduce)
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run_app(lambda: app, given or ["--help"], "python -m reproduction"))


def reproduce(
    name: Annotated[str, typer.Argument(help="A figure or table, or all; an unknown name lists all names.")],
    data: Annotated[str | None, typer.Option(help="Folder with the real data; EVENCUT_DATA by default.")] = None,
    out: Annotated[str, typer.Option(help="Folder for the pictures and numbers; created if missing.")] = "out/paper",
    jobs: Annotated[
        int | None, number_of("--jobs", 1, "Figures and photos made at the same time; by default the number of cores.")
    ] = None,
    subset: Annotated[
        int | None, number_of("--subset", 1, "Use only N photos for table1 and the figures that explain it.")
    ] = None,
) -> None:
    """Reproduce figures and tables of the paper and judge its claims; exits with 1 if one fails for no known reason."""
    from evencut.plotting import require_matplotlib

    from . import FIGURES
    from .results import results_of

    check_name("figure", name, [*FIGURES, "all"])
    require_matplotlib()
    source, folder = _data_folder(data), make_folder(out)
    names = [name] if name != "all" else list(FIGURES)
    n_jobs = jobs or os.cpu_count() or 1
    options = _photo_options(names, source, folder, n_jobs, subset)
    made, skipped, surprised = {}, [], False
    for one, outcome in _make_all(names, source, folder, options, n_jobs):
        if isinstance(outcome, Exception):
            if name != "all":
                raise UserError(f"{one} {outcome}") from outcome
            skipped.append((one, str(outcome)))
            say(f"skipped {one}: {outcome}")
            continue
        made[one], is_surprise = outcome
        surprised |= is_surprise
        # At once: what is made stays made, whatever becomes of the rest.
        _renew_results(folder, results_of([made[one]]))
        _print(made[one])
    if name == "all":
        results = results_of([made[one] for one in names if one in made], skipped)
        _write_page(folder, results)
        _write_results(folder, results)
        _print_summary(results)
        say(f"wrote {folder / 'index.html'} and results.json")
    else:
        say(f"wrote {folder / name}.png, .svg and .json")
    if surprised:
        raise typer.Exit(1)


def _photo_options(
    names: list[str], data: Path | None, folder: Path, jobs: int, subset: int | None
) -> dict[str, dict[str, Any]]:
    """Measure the photos, which takes minutes, with a bar of its own and a folder to go on from; whom they serve."""
    of_photos = [one for one in names if one in ("table1", "photo_bandwidth", "photo_weight")]
    rows = folder / "table1"
    if of_photos and data is not None and (data / "grabcut" / "boxes.csv").exists():
        _fill_table(data, rows, jobs, subset)
    return {one: {"folder": rows, "subset": subset} for one in of_photos}


def _fill_table(data: Path, out: Path, jobs: int, subset: int | None) -> None:
    """Fill table 1, print it, and say where the rows and the contact sheet are."""
    from . import table1

    try:
        n_photos = len(table1.choose_photos(table1.find_photos(data), subset))
        with as_user_errors(), counted("photos", n_photos) as advance:
            errors = table1.run(data, out, jobs=jobs, subset=subset, advance=lambda done, total: advance())
    except KeyboardInterrupt:
        say(f"stopped; the finished photos are in {out / 'table1.csv'}, and the same command goes on from there")
        raise
    print(table1.format_table(errors), end="")
    say(f"wrote {out / 'table1.csv'}, {out / 'table1.md'} and {out / 'table1.png'}")


def _make_all(
    names: list[str], data: Path | None, folder: Path, options: dict[str, dict[str, Any]], jobs: int
) -> Iterator[tuple[str, Any]]:
    """Each name with its figure and whether it surprises, or with what data it lacks; the slow ones begin first."""
    from .frame import TEXTS, in_processes

    order = names if jobs == 1 else sorted(names, key=lambda one: not TEXTS[one].get("slow", False))
    tasks = {one: (one, data, folder, options.get(one, {})) for one in order}
    with counted(f"making {names[0]}" if len(names) == 1 else "figures", total=len(names)) as advance:
        for made in in_processes(_make_and_save, tasks, jobs, _one_thread):
            advance()
            yield made


def _one_thread() -> None:
    """Processes share the cores; linear algebra with threads of its own in each would make them wait."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _make_and_save(name: str, data: Path | None, folder: Path, options: dict[str, Any]) -> Any:
    """The figure as a dictionary with its processor time, and whether it surprises; or what data it lacks."""
    from . import DataMissing, make

    begin = time.process_time()
    try:
        figure = make(name, data=data, **options)
    except DataMissing as reason:
        return reason
    figure.save(folder)
    return figure.as_dict() | {"cpu_seconds": round(time.process_time() - begin, 1)}, bool(figure.surprises)


def _data_folder(data: str | None) -> Path | None:
    named = data or os.environ.get("EVENCUT_DATA")
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        source = "--data" if data else "EVENCUT_DATA"
        raise UserError(f"{source} {named} is not a folder; name the folder that holds labelme/ and grabcut/.")
    return folder


def _print(figure: dict[str, Any]) -> None:
    print(f"{figure['name']}: {figure['title']}")
    for claim in figure["claims"]:
        print(f"  {claim['says']}")
        for solver, verdict in (("steps", claim["steps"]), ("lowest", claim["lowest"])):
            if verdict is not None:
                print(f"    {solver if claim['lowest'] else '':6}  {verdict['verdict']:10}  [{verdict['measured']}]")
                if verdict["why"]:
                    print(f"{'':14}because {verdict['why']}")


def _print_summary(results: dict[str, Any]) -> None:
    """How many claims there are, and how many of them fail or could not be tested."""
    from .results import counts_of

    for group, count in counts_of(results["figures"]).items():
        told = ", ".join(f"{number} {verdict}" for verdict, number in count.items())
        print(f"{sum(count.values())} {group}: {told}")
    if results["skipped"]:
        print(f"not made: {', '.join(name for name, _ in results['skipped'])}")


def _write_results(folder: Path, results: dict[str, Any]) -> None:
    """What the documentation's page is made from."""
    with atomic_write(folder / "results.json") as file:
        file.write((json.dumps(results, indent=1, ensure_ascii=False) + "\n").encode())


def _renew_results(folder: Path, new: dict[str, Any]) -> None:
    """Put one figure in the place of its former results, where all have been made in this folder before."""
    from . import FIGURES

    path = folder / "results.json"
    if path.is_file():
        before = json.loads(path.read_text(encoding="utf-8"))
        made = {figure["name"]: figure for figure in [*before["figures"], *new["figures"]]}
        _write_results(folder, before | {"figures": [made[name] for name in FIGURES if name in made]})


def _write_page(folder: Path, results: dict[str, Any]) -> None:
    from .index_page import page

    with atomic_write(folder / "index.html") as file:
        file.write(page(results).encode())
