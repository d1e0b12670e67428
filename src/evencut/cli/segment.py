"""`evencut segment`: an object cut out of a photo or volume from a box, clicks or strokes, or a photo in regions."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

import numpy as np
import typer

from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, library_errors_are_the_users
from evencut.cli.masks import check_picture_file, read_strokes, write_cutout, write_mask, write_overlay
from evencut.cli.options import Seed, number_of, number_or_name, one_of
from evencut.cli.outputs import check_distinct

_CRITERIA = ("entropy", "average_association", "normalized_cut", "average_cut")
_KERNELS = ("knn", "gaussian")
_REGULARIZERS = ("contrast", "length", "none")
_EQUALIZERS = ("none", "weights", "exact")


def segment(
    photo: Annotated[
        str, typer.Argument(help="The image file, or a volume: NIfTI, NRRD or a stack of TIFF.")
    ],
    box: Annotated[
        str | None,
        typer.Option(
            metavar="X0,Y0,X1,Y1",
            help="Box around the object, in pixels; of a volume X0,Y0,Z0,X1,Y1,Z1.",
        ),
    ] = None,
    click: Annotated[
        list[str] | None,
        typer.Option(
            metavar="X,Y", help="A point on the object; may be repeated. Of a volume X,Y,Z."
        ),
    ] = None,
    not_: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="X,Y", help="A point on the background; may be repeated."),
    ] = None,
    scribbles: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Image of the same size with strokes: black or transparent where none; grey levels or colours are "
            "labels. With a box or clicks, red (or 2) is object and blue (or 1) background.",
        ),
    ] = None,
    regions: Annotated[
        int | None, number_of("--regions", 2, "Divide the whole photo into K regions instead.", metavar="K")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", help="Where to write the mask; by default mask.png, of a volume mask.nii.gz."),
    ] = None,
    cutout: Annotated[
        str | None, typer.Option(help="Write the object on a transparent background.")
    ] = None,
    overlay: Annotated[
        str | None, typer.Option(help="Write the photo with the result drawn over it.")
    ] = None,
    criterion: Annotated[
        str | None, one_of("--criterion", "", _CRITERIA, " By default entropy, and normalized_cut with --regions.")
    ] = None,
    kernel: Annotated[str, one_of("--kernel", "", _KERNELS)] = "knn",
    equalize: Annotated[str, one_of("--equalize", "", _EQUALIZERS)] = "none",
    regularizer: Annotated[str, one_of("--regularizer", "Boundary term: ", _REGULARIZERS)] = "contrast",
    smoothness: Annotated[str, typer.Option(help="Weight of the boundary term: auto or a number.")] = "auto",
    soft: Annotated[bool, typer.Option("--soft", help="Let the object extend beyond the box.")] = False,
    seed: Seed = 0,
) -> None:
    """Cut an object out of a photo or a volume from a box, clicks or strokes; or divide a photo into regions.

    The mask is white on the object, black elsewhere; with more than two labels it is a palette picture whose values
    are the labels. The mask of a volume is 1 on the object and has the place in space of the volume.
    """
    with library_errors_are_the_users():
        from evencut import segmentation
        from evencut.cli.volumes import check_volume_outputs, read_volume_strokes, write_volume_mask
        from evencut.segmentation.volumes import is_volume_file

        is_volume = is_volume_file(photo)
    out = out or ("mask.nii.gz" if is_volume else "mask.png")
    axes = "XYZ" if is_volume else "XY"
    clicks = _points("--click", click, "object", axes) + _points("--not", not_, "background", axes)
    two_sided = box is not None or bool(clicks)
    if (regions is None) == (not two_sided and scribbles is None):
        raise UserError(
            "give --box X0,Y0,X1,Y1, --click X,Y or --scribbles FILE to cut something out, or --regions K alone to "
            "divide the photo."
        )
    check_distinct(photo=photo, scribbles=scribbles, mask=out, cutout=cutout, overlay=overlay)
    if is_volume:
        check_volume_outputs(out, cutout, overlay, regions)
    with library_errors_are_the_users(), progress() as step:
        corners = None if box is None else _numbers("--box", box, "box", axes)
        step(f"reading {photo}")
        if is_volume:
            volume = segmentation.read_volume(photo)
            image: Any = volume.voxels
            strokes = None if scribbles is None else read_volume_strokes(scribbles)
        else:
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
            spacing = volume.spacing if is_volume else None
            result = segmentation.segment(image, **hints, hard=not soft, spacing=spacing, **options)
        step("writing")
        if is_volume:
            write_volume_mask(out, result, volume)
        else:
            write_mask(out, result.labels, result.label_names)
        if cutout is not None:
            write_cutout(cutout, image, result.mask)
        if overlay is not None:
            write_overlay(overlay, image, result.labels, result.label_names)
    counts = np.unique(result.labels, return_counts=True)[1]
    shares = ", ".join(f"{share:.1%}" for share in counts / counts.sum())
    written = " and ".join(str(path) for path in (out, cutout, overlay) if path is not None)
    unit = "voxels" if is_volume else "pixels"
    say(f"wrote {written} ({len(counts)} labels: {shares} of the {unit}; {sum(result.timings.values()):.1f} CPU s)")


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


def _points(option: str, texts: list[str] | None, kind: str, axes: str) -> list[tuple[Any, ...]]:
    return [(*_numbers(option, text, "point", axes), kind) for text in texts or []]


#: What a point and a box are, by the axes they have.
_NEEDS = {
    ("point", "XY"): "two numbers X,Y, such as 120,80",
    ("point", "XYZ"): "three numbers X,Y,Z, such as 120,80,40",
    ("box", "XY"): "four numbers X0,Y0,X1,Y1, such as 10,20,300,280",
    ("box", "XYZ"): "six numbers X0,Y0,Z0,X1,Y1,Z1, such as 10,20,5,300,280,60",
}


def _numbers(option: str, text: str, what: str, axes: str) -> list[float]:
    with suppress(ValueError):
        numbers = [float(part) for part in text.split(",")]
        if len(numbers) == len(axes) * (2 if what == "box" else 1):
            return numbers
    raise UserError(f"{option} {text} is not a {what}; give {_NEEDS[what, axes]}.")
