"""How many clicks does a cut-out take? The field's measure, NoC@85 and NoC@90, for evencut and its peers.

    python -m benchmarks.clicks --data DIR [--jobs 2] [--subset N] [--part ours|sloppy|peers|tuning|hard|large|folder]
                                [--pictures DIR] [--kept DIR]

A robot clicks on the deepest point of the largest wrong region, at most 20 times; a click is a disc of radius 5. Noted
are the intersection over union (IoU) after each click and the number of clicks to .85 and .90; a failure counts 20.
Writes CLICKS.md and the curves clicks.svg; one part alone replaces its own section. Pictures of photos stay out of the
project: they go to the folder named. With --kept, photos that an earlier run has measured are not measured again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.click_constants import ablate, chosen_on, tuning_section
from benchmarks.click_methods import PEERS, Evencut
from benchmarks.click_robot import GOALS, MOST_CLICKS, Curve, simulate
from benchmarks.click_scale import folder_section, large_section
from benchmarks.hard_photos import HARDENED, KINDS, PER_KIND, hardened, scene
from benchmarks.photos import (
    HALVES,
    chosen_photos,
    find_second_set,
    halves_of,
    kept,
    photo_parser,
    read_any,
    set_of,
)
from evencut.segmentation import segment
from reproduction.grabcut import Photo, error_rate, read_photo

from .records import HERE, publish

#: NoC@90 on these photos as published.
PUBLISHED = {
    "graph cut": 10.0,
    "random walks": 13.8,
    "geodesic star convexity": 9.1,
    "Euclidean star convexity": 9.2,
    "DIOS, the first deep network, trained": 6.04,
}


@cache
def loading_seconds() -> float:
    """CPU seconds that the first click of a new process takes beyond the work: its compiled code is loaded."""
    image = np.zeros((24, 24, 3), dtype=np.uint8)
    image[8:16, 8:16] = 200
    begin = time.process_time()
    segment(image, box=(4, 4, 20, 20), clicks=[(12, 12, "object")])
    return time.process_time() - begin


def both_ways(photo: Photo) -> dict[str, Curve]:
    """From clicks alone, and after a box."""
    warnings.simplefilter("ignore")
    loading_seconds()
    boxed = Evencut(photo.image, photo.box)
    error = error_rate(boxed.mask, photo.truth, photo.box)
    after_box = simulate(boxed, photo.truth)
    after_box.error = error
    return {"clicks": simulate(Evencut(photo.image), photo.truth), "box": after_box}


def ours(data: Path, name: str) -> dict[str, Curve]:
    """A photo of either set with its box."""
    return both_ways(read_any(data, name))


def sloppy(data: Path, name: str) -> dict[str, Curve]:
    """The same by the sloppy robot."""
    warnings.simplefilter("ignore")
    photo = read_any(data, name)
    tools = {"clicks": Evencut(photo.image), "box": Evencut(photo.image, photo.box)}
    return {way: simulate(tool, photo.truth, random=np.random.default_rng(0)) for way, tool in tools.items()}


def made_up(data: Path, name: str) -> dict[str, Curve]:
    """A scene by its kind and number."""
    kind, number = name.rsplit(maxsplit=1)
    return both_ways(scene(kind, int(number)))


def made_harder(data: Path, name: str) -> dict[str, dict[str, Curve]]:
    """A photo of GrabCut in every way that makes it harder."""
    photo = read_photo(data, name)
    return {kind: both_ways(hardened(photo, kind)) for kind in HARDENED}


def peers(data: Path, name: str) -> dict[str, Curve]:
    warnings.simplefilter("ignore")
    photo = read_any(data, name)
    return {title: simulate(make(photo.image), photo.truth) for title, make in PEERS.items()}


def row(title: str, curves: list[Curve]) -> str:
    later = [second for curve in curves for second in curve.seconds[1:]] or [0.0]
    numbers = [f"{np.mean([curve.clicks_to(goal) for curve in curves]):.2f}" for goal in GOALS]
    shares = [f"{np.mean([curve.after(n) for curve in curves]):.3f}" for n in (1, 2, 3, 5, 10)]
    fails = np.mean([curve.fails for curve in curves])
    cells = [*numbers, f"{fails:.0%}", *shares, f"{np.median(later):.2f}", f"{max(later):.2f}"]
    return f"| {title} | {len(curves)} | " + " | ".join(cells) + " |"


HEAD = [
    "| method | photos | NoC@85 | NoC@90 | never .90 | IoU after 1 click | 2 | 3 | 5 | 10 | CPU s a click | at most |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
]


def ours_section(data: Path, names: list[str], found: list[dict[str, Curve]]) -> str:
    sets, halves = np.array([set_of(name) for name in names]), halves_of(data, names)
    first = np.array([photo["clicks"].seconds[0] for photo in found if photo["clicks"].seconds])
    counts = {name: photo["clicks"].clicks_to(GOALS[-1]) for name, photo in zip(names, found)}
    hardest = sorted(counts, key=lambda name: -counts[name])[:12]
    lines = [
        "## evencut",
        "Made by `python -m benchmarks clicks` on the GrabCut photos and on harder ones of Berkeley. A robot clicks on",
        "the deepest point of the largest wrong region until an IoU of .90, at most 20 times. After a box, the clicks",
        "beyond it are counted. CPU seconds are those of the second click and later ones. Constants were chosen on",
        "half of both sets, every other photo, and are judged on the other half; photos that both sets hold are in the",
        "same half.",
        "",
        *HEAD,
    ]
    for title in dict.fromkeys(sets):
        for way, what in (("clicks", "from clicks alone"), ("box", "after a box")):
            for half, which in (("all", halves >= 0), ("chosen on", halves == 0), ("judged on", halves == 1)):
                some = [found[i][way] for i in np.flatnonzero((sets == title) & which)]
                if some:
                    lines.append(row(f"{title}, {what}, {half}", some))
    lines += ["", "| photos | error from a box, mean | median | judged on: mean | median |", "|---|---|---|---|---|"]
    for title in dict.fromkeys(sets):
        errors = np.array([photo["box"].error for photo in found])
        numbers = []
        for which in (sets == title, (sets == title) & (halves == 1)):
            some = errors[which] if which.any() else np.array([np.nan])
            numbers += [f"{some.mean():.2f} %", f"{np.median(some):.2f} %"]
        lines.append(f"| {title} | " + " | ".join(numbers) + " |")
    lines += [
        "",
        f"The first click, which builds the graphs: {np.median(first):.2f} CPU s, at most {first.max():.2f}. A new",
        f"process first loads its compiled code, once {loading_seconds():.2f} CPU s.",
        "",
        "![IoU by number of clicks: the median photo, and the best and worst tenths, of both sets](clicks.svg)",
        "",
        "Sheets of the ten best, median and worst photos with their last masks are written by `--pictures DIR`; the",
        "photos are not ours to publish, so the project holds the curves alone.",
        "",
        "Hardest photos, clicks to .90: " + ", ".join(f"{name} {counts[name]}" for name in hardest) + ".",
        "",
        "Published NoC@90 on GrabCut: " + ", ".join(f"{name} {noc:g}" for name, noc in PUBLISHED.items()) + ".",
    ]
    return "\n".join(lines) + "\n"


def sloppy_section(
    data: Path, names: list[str], careful: list[dict[str, Curve]], found: list[dict[str, Curve]]
) -> str:
    sets, halves = np.array([set_of(name) for name in names]), halves_of(data, names)
    lines = [
        "## Sloppy clicks, and clicks that make it worse",
        "The sloppy robot clicks on any wrong region at least half as large as the largest, at any pixel at least half",
        "as deep as the deepest of the region. A click makes it worse where the IoU falls by more than .02.",
        "",
        "| photos | robot | NoC@90 | never .90 | clicks that make it worse |",
        "|---|---|---|---|---|",
    ]
    for title in dict.fromkeys(sets):
        for way, what in (("clicks", "from clicks alone"), ("box", "after a box")):
            for half, which in (("chosen on", halves == 0), ("judged on", halves == 1)):
                for robot, curves in (("careful", careful), ("sloppy", found)):
                    some = [curves[i][way] for i in np.flatnonzero((sets == title) & which)]
                    if some:
                        lines.append(f"| {title}, {what}, {half} | {robot} | {sloppy_cells(some)} |")
    return "\n".join(lines) + "\n"


def sloppy_cells(curves: list[Curve]) -> str:
    changes = np.concatenate([curve.changes for curve in curves])
    worse = float((changes < -0.02).mean()) if changes.size else 0.0
    noc = np.mean([curve.clicks_to(GOALS[-1]) for curve in curves])
    return f"{noc:.2f} | {np.mean([curve.fails for curve in curves]):.0%} | {worse:.1%}"


def hard_section(scenes: list[dict[str, Curve]], photos: list[dict[str, dict[str, Curve]]]) -> str:
    lines = [
        "## Hard photos",
        "Scenes of 320 x 240 pixels drawn by `benchmarks/hard_photos.py`, in which colour says little, and the GrabCut",
        f"photos at half their size, made harder. {PER_KIND} scenes of each kind; boxes of scenes are a little loose.",
        "",
        "| photos | number | NoC@85 | NoC@90 | never .90 | after a box: NoC@90 | never .90 | IoU of the box alone |",
        "|---|---|---|---|---|---|---|---|",
        *(hard_row(kind, scenes[i * PER_KIND : (i + 1) * PER_KIND]) for i, kind in enumerate(KINDS)),
        hard_row("**all scenes**", scenes),
        *(hard_row(kind, [photo[kind] for photo in photos]) for kind in HARDENED),
        *(
            hard_row(f"**all {half} photos made harder**", [ways for photo in photos[some] for ways in photo.values()])
            for half, some in HALVES.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def hard_row(title: str, found: list[dict[str, Curve]]) -> str:
    clicks, boxes = ([curves[way] for curves in found] for way in ("clicks", "box"))
    noc = [f"{np.mean([curve.clicks_to(goal) for curve in clicks]):.2f}" for goal in GOALS]
    after_box = f"{np.mean([curve.clicks_to(GOALS[-1]) for curve in boxes]):.2f}"
    fails = [f"{np.mean([curve.fails for curve in curves]):.0%}" for curves in (clicks, boxes)]
    alone = f"{np.mean([curve.before for curve in boxes]):.3f}"
    return f"| {title} | {len(found)} | " + " | ".join([*noc, fails[0], after_box, fails[1], alone]) + " |"


def peers_section(names: list[str], found: list[dict[str, Curve]], same: list[dict[str, Curve]]) -> str:
    lines = [
        "## Peers, same robot, same photos",
        "Every method gets the same discs of radius 5, and the rim of the photo for background until one is clicked.",
        "OpenCV's grabCut also needs a first guess of the object: a disc of a quarter of the photo's diagonal around",
        "the first click, which the others are not given.",
        "",
        *HEAD,
    ]
    sets = np.array([set_of(name) for name in names])
    for title in dict.fromkeys(sets):
        here = np.flatnonzero(sets == title)
        lines.append(row(f"{title}: evencut", [same[i]["clicks"] for i in here]))
        lines += [row(f"{title}: {peer}", [found[i][peer] for i in here]) for peer in PEERS]
    return "\n".join(lines) + "\n"


def draw_curves(names: list[str], curves: list[Curve], path: Path) -> None:
    """IoU by number of clicks, a panel a set: mean, median, and the worst and best tenth of the photos."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    counts = np.arange(1, MOST_CLICKS + 1)
    sets = list(dict.fromkeys(map(set_of, names)))
    figure, panels = plt.subplots(1, len(sets), figsize=(5 * len(sets), 3.6), layout="constrained", squeeze=False)
    for title, axes in zip(sets, panels[0]):
        table = np.array([[c.after(n) for n in counts] for name, c in zip(names, curves) if set_of(name) == title])
        low, middle, high = np.quantile(table, (0.1, 0.5, 0.9), axis=0)
        axes.fill_between(counts, low, high, alpha=0.2, label="all but the best and worst tenths")
        axes.plot(counts, middle, label="median photo")
        axes.plot(counts, table.mean(axis=0), "--", label="mean")
        axes.axhline(GOALS[-1], color="grey", linewidth=0.8)
        axes.set(title=title, xlabel="clicks", ylabel="IoU", xlim=(1, MOST_CLICKS), ylim=(0.3, 1))
        axes.set_xticks([1, 3, 5, 10, 15, 20])
        axes.legend(loc="lower right", frameon=False)
    # The same numbers give the same file.
    with plt.rc_context({"svg.hashsalt": "clicks", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_masks(data: Path, names: list[str], curves: list[Curve], folder: Path) -> None:
    """Sheets of the ten hardest, ten middling and ten easiest photos with their last masks."""
    from reproduction.contact_sheet import save_sheet, save_strip

    folder.mkdir(parents=True, exist_ok=True)
    strips = {}
    for name, curve in zip(names, curves):
        strips[name] = folder / f"{name}.png"
        title = f"{curve.clicks_to(GOALS[-1])} clicks, IoU {curve.after(MOST_CLICKS):.2f}"
        save_strip(read_any(data, name), [(title, curve.mask)], strips[name])
    order = [names[i] for i in np.argsort([-curve.clicks_to(GOALS[-1]) for curve in curves], kind="stable")]
    middle = max(0, len(order) // 2 - 5)
    for title, some in (("worst", order[:10]), ("median", order[middle : middle + 10]), ("best", order[-10:])):
        save_sheet([strips[name] for name in some], folder / f"{title}_ten.png")


def main(arguments: list[str] | None = None) -> None:
    parser = photo_parser(__doc__.splitlines()[0], ("ours", "sloppy", "peers", "tuning", "hard", "large", "folder"))
    parser.add_argument("--pictures", help="folder for pictures of the worst, median and best ten")
    options = parser.parse_args(arguments)
    data, first_set = chosen_photos(parser, options)
    names = first_set + find_second_set(data)[:: options.subset or 1]
    sections = {}
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:

        def measured(measure: Callable, some: list[str] = names) -> list:
            return list(pool.map(partial(kept, measure, options.kept, data), some))

        if options.part in ("all", "ours", "sloppy", "peers"):
            mine = measured(ours)
        if options.part in ("all", "ours"):
            sections["ours"] = ours_section(data, names, mine)
            draw_curves(names, [photo["clicks"] for photo in mine], HERE / "clicks.svg")
            if options.pictures:
                draw_masks(data, names, [photo["clicks"] for photo in mine], Path(options.pictures))
        if options.part in ("all", "sloppy"):
            sections["sloppy"] = sloppy_section(data, names, mine, measured(sloppy))
        if options.part in ("all", "peers"):
            sections["peers"] = peers_section(names, measured(peers), mine)
        if options.part in ("all", "tuning"):
            sections["tuning"] = tuning_section(measured(ablate, chosen_on(data)[:: options.subset or 1]))
        if options.part in ("all", "hard"):
            numbered = [f"{kind} {number}" for kind in KINDS for number in range(PER_KIND)]
            sections["hard"] = hard_section(measured(made_up, numbered), measured(made_harder, first_set))
    if options.part in ("all", "large"):
        sections["large"] = large_section(data, first_set)
    if options.part in ("all", "folder"):
        sections["folder"] = folder_section(data, first_set)
    print(publish("clicks", {"title": "# Clicks to a cut-out\n", **sections}))


if __name__ == "__main__":
    main()
