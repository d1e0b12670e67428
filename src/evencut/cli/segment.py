"""`evencut segment`: an object cut out of a photo from a box, clicks or strokes, or a photo divided into regions."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, check_name, library_errors_are_the_users
from evencut.cli.masks import check_picture_file, read_strokes, write_cutout, write_mask, write_overlay
from evencut.cli.options import Seed, names, number_or_name, whole_number
from evencut.cli.outputs import check_distinct

__all__ = ["segment"]

_CRITERIA = ("entropy", "average_association", "normalized_cut", "average_cut")
_KERNELS = ("knn", "gaussian")
_REGULARIZERS = ("contrast", "length", "none")
_EQUALIZERS = ("none", "weights", "exact")


def segment(
    photo: Annotated[str, typer.Argument(help="The image file.", show_default=False)],
    box: Annotated[
        str | None, typer.Option(metavar="X0,Y0,X1,Y1", help="Box around the object, in pixels.", show_default=False)
    ] = None,
    click: Annotated[
        list[str] | None,
        typer.Option(metavar="X,Y", help="A point on the object; may be repeated.", show_default=False),
    ] = None,
    not_: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="X,Y", help="A point on the background; may be repeated.", show_default=False),
    ] = None,
    scribbles: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Image of the same size with strokes: black or transparent where none; grey levels or colours are "
            "labels. With a box or clicks, red (or 2) is object and blue (or 1) background.",
            show_default=False,
        ),
    ] = None,
    regions: Annotated[
        int | None,
        typer.Option(
            parser=whole_number("--regions", 2),
            metavar="K",
            help="Divide the whole photo into K regions instead.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Where to write the mask.")] = "mask.png",
    cutout: Annotated[
        str | None, typer.Option(help="Write the object on a transparent ground.", show_default=False)
    ] = None,
    overlay: Annotated[
        str | None, typer.Option(help="Write the photo with the result drawn over it.", show_default=False)
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            help=f"{names(_CRITERIA)} By default entropy, and normalized_cut with --regions.", show_default=False
        ),
    ] = None,
    kernel: Annotated[str, typer.Option(help=names(_KERNELS))] = "knn",
    equalize: Annotated[str, typer.Option(help=names(_EQUALIZERS))] = "none",
    regularizer: Annotated[str, typer.Option(help=f"Boundary term: {names(_REGULARIZERS)}")] = "contrast",
    smoothness: Annotated[str, typer.Option(help="Weight of the boundary term: auto or a number.")] = "auto",
    soft: Annotated[bool, typer.Option("--soft", help="Let the object reach out of the box.")] = False,
    seed: Seed = 0,
) -> None:
    """Cut an object out of a photo from a box, clicks or strokes; or divide a photo into regions.

    The mask is white on the object, black elsewhere; with more than two labels it is a palette picture whose values
    are the labels.
    """
    for option, value, known in (
        ("--criterion", criterion or "entropy", _CRITERIA),
        ("--kernel", kernel, _KERNELS),
        ("--equalize", equalize, _EQUALIZERS),
        ("--regularizer", regularizer, _REGULARIZERS),
    ):
        check_name(option, value, known)
    clicks = _points("--click", click, "object") + _points("--not", not_, "background")
    two_sided = box is not None or bool(clicks)
    if (regions is None) == (not two_sided and scribbles is None):
        raise UserError(
            "give --box X0,Y0,X1,Y1, --click X,Y or --scribbles FILE to cut something out, or --regions K alone to "
            "divide the photo."
        )
    check_distinct(photo=photo, scribbles=scribbles, mask=out, cutout=cutout, overlay=overlay)
    with library_errors_are_the_users(), progress() as step:
        from evencut import segmentation

        corners = None if box is None else _corners(box)
        step(f"reading {photo}")
        image = segmentation.read_image(photo)
        strokes = None if scribbles is None else read_strokes(scribbles, object_and_background=two_sided)
        _check_outputs(out, cutout, overlay, _number_of_labels(regions, strokes, two_sided))
        options: dict[str, Any] = {
            "kernel": kernel,
            "equalize": None if equalize == "none" else equalize,
            "regularizer": None if regularizer == "none" else regularizer,
            "smoothness": number_or_name(smoothness),
            "random_state": seed,
        }
        if criterion is not None:
            options["criterion"] = criterion
        step(f"segmenting {photo}")
        if regions is not None:
            result = segmentation.partition(image, regions, **options)
        else:
            hints: dict[str, Any] = {"box": corners, "clicks": clicks or None, "scribbles": strokes}
            result = segmentation.segment(image, **hints, hard=not soft, **options)
        step("writing")
        write_mask(out, result.labels, result.label_names)
        if cutout is not None:
            write_cutout(cutout, image, result.mask)
        if overlay is not None:
            write_overlay(overlay, image, result.labels, result.label_names)
    counts = np.unique(result.labels, return_counts=True)[1]
    shares = ", ".join(f"{share:.1%}" for share in counts / counts.sum())
    written = " and ".join(str(path) for path in (out, cutout, overlay) if path is not None)
    say(f"wrote {written} ({len(counts)} labels: {shares} of the pixels; {sum(result.timings.values()):.1f} CPU s)")


def _number_of_labels(regions: int | None, strokes: np.ndarray | None, two_sided: bool) -> int:
    """How many labels the result will have, known before the work begins."""
    if regions is not None:
        return regions
    return 2 if two_sided or strokes is None else len(np.unique(strokes[strokes > 0]))


def _check_outputs(out: str, cutout: str | None, overlay: str | None, n_labels: int) -> None:
    check_picture_file(out, n_labels)
    for path in (cutout, overlay):
        if path is not None:
            check_picture_file(path)
    if cutout is not None and n_labels > 2:
        raise UserError(f"--cutout needs an object and a background, but there are {n_labels} labels; leave it out.")


def _points(option: str, given: list[str] | None, kind: str) -> list[tuple[float, float, str]]:
    points = []
    for text in given or []:
        numbers = _numbers(text)
        if len(numbers) != 2:
            raise UserError(f"{option} {text} is not a point; give two numbers X,Y, such as 120,80.")
        points.append((numbers[0], numbers[1], kind))
    return points


def _corners(box: str) -> list[float]:
    corners = _numbers(box)
    if len(corners) != 4:
        raise UserError(f"--box {box} is not a box; give four numbers X0,Y0,X1,Y1, such as 10,20,300,280.")
    return corners


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return []
