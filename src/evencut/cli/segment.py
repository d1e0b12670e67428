"""`evencut segment`: an object cut out of a photo from a box or strokes, or a photo divided into regions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from evencut.cli.console import progress, say
from evencut.cli.errors import UserError, check_name, library_errors_are_the_users
from evencut.cli.options import Seed, names, number_or_name, whole_number
from evencut.cli.outputs import check_distinct, check_writable, whole_file

__all__ = ["segment"]

_FORMATS = (".png", ".tif", ".tiff", ".webp", ".bmp")
_CRITERIA = ("entropy", "average_association", "normalized_cut", "average_cut")
_KERNELS = ("knn", "gaussian")
_REGULARIZERS = ("contrast", "length", "none")
_EQUALIZERS = ("none", "weights", "exact")
_MOST_COLORS = 32
_COLORS = np.array(
    [[230, 60, 60], [60, 180, 75], [60, 90, 230], [250, 200, 50], [160, 60, 200], [60, 200, 200], [245, 130, 50]]
)


def segment(
    photo: Annotated[str, typer.Argument(help="The image file.", show_default=False)],
    box: Annotated[
        str | None, typer.Option(metavar="X0,Y0,X1,Y1", help="Box around the object, in pixels.", show_default=False)
    ] = None,
    scribbles: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Image of the same size with strokes: black or transparent where none; grey levels or colors are "
            "labels. With a box, red (or 2) is object and blue (or 1) background.",
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
    criterion: Annotated[str, typer.Option(help=names(_CRITERIA))] = "entropy",
    kernel: Annotated[str, typer.Option(help=names(_KERNELS))] = "knn",
    equalize: Annotated[str, typer.Option(help=names(_EQUALIZERS))] = "none",
    regularizer: Annotated[str, typer.Option(help=f"Boundary term: {names(_REGULARIZERS)}")] = "contrast",
    smoothness: Annotated[str, typer.Option(help="Weight of the boundary term: auto or a number.")] = "auto",
    soft: Annotated[bool, typer.Option("--soft", help="Let the object reach out of the box.")] = False,
    seed: Seed = 0,
) -> None:
    """Cut an object out of a photo from a box or strokes; or divide a photo into regions.

    The mask is white on the object, black elsewhere; with more than two labels, its grey levels are the labels.
    """
    for option, value, known in (
        ("--criterion", criterion, _CRITERIA),
        ("--kernel", kernel, _KERNELS),
        ("--equalize", equalize, _EQUALIZERS),
        ("--regularizer", regularizer, _REGULARIZERS),
    ):
        check_name(option, value, known)
    if (regions is None) == (box is None and scribbles is None):
        raise UserError(
            "give --box X0,Y0,X1,Y1 or --scribbles FILE to cut something out, or --regions K alone to divide the photo."
        )
    _check_outputs(photo, out, cutout, overlay)
    with library_errors_are_the_users(), progress() as step:
        from evencut import segmentation

        step(f"reading {photo}")
        image = segmentation.read_image(photo)
        options: dict[str, Any] = {
            "criterion": criterion,
            "kernel": kernel,
            "equalize": None if equalize == "none" else equalize,
            "regularizer": None if regularizer == "none" else regularizer,
            "smoothness": number_or_name(smoothness),
            "random_state": seed,
        }
        step(f"segmenting {photo}")
        if regions is not None:
            result = segmentation.partition(image, regions, **options)
        else:
            corners = None if box is None else _corners(box)
            strokes = None if scribbles is None else _strokes(scribbles, segmentation.read_image, box is not None)
            result = segmentation.segment(image, box=corners, scribbles=strokes, hard=not soft, **options)
        step("writing")
        _write(out, _gray_levels(result))
        if cutout is not None:
            _write(cutout, _cutout(image, result))
        if overlay is not None:
            _write(overlay, _overlay(image, result))
    counts = np.unique(result.labels, return_counts=True)[1]
    shares = ", ".join(f"{share:.1%}" for share in counts / counts.sum())
    written = " and ".join(str(path) for path in (out, cutout, overlay) if path is not None)
    say(f"wrote {written} ({len(counts)} labels: {shares} of the pixels; {sum(result.timings.values()):.1f} CPU s)")


def _check_outputs(photo: str, out: str, cutout: str | None, overlay: str | None) -> None:
    check_distinct(photo=photo, mask=out, cutout=cutout, overlay=overlay)
    for path in (out, cutout, overlay):
        if path is None:
            continue
        if Path(path).suffix.lower() not in _FORMATS:
            raise UserError(f"cannot write {path}: its name must end in one of {', '.join(_FORMATS)}.")
        check_writable(path)


def _corners(box: str) -> list[float]:
    try:
        corners = [float(part) for part in box.split(",")]
    except ValueError:
        corners = []
    if len(corners) != 4:
        raise UserError(f"--box {box} is not a box; give four numbers X0,Y0,X1,Y1, such as 10,20,300,280.")
    return corners


def _strokes(path: str, read_image: Any, with_box: bool) -> np.ndarray:
    """Labels of the strokes in an image file: grey levels as they are, colours numbered."""
    drawn = np.asarray(read_image(path))
    if drawn.ndim == 2:
        return drawn.astype(np.int64)
    if drawn.shape[2] == 2:
        return np.where(drawn[..., 1] >= 128, drawn[..., 0], 0).astype(np.int64)
    colors = drawn[..., :3].astype(np.int64)
    visible = colors.any(axis=2)
    if drawn.shape[2] == 4:
        visible &= drawn[..., 3] >= 128
    codes = (colors[..., 0] << 16) + (colors[..., 1] << 8) + colors[..., 2]
    labels = np.zeros(codes.shape, dtype=np.int64)
    if with_box:
        red, blue = colors[..., 0] > colors[..., 2], colors[..., 2] > colors[..., 0]
        labels[visible & blue] = 1
        labels[visible & red] = 2
        return labels
    found, labels[visible] = np.unique(codes[visible], return_inverse=True)
    if len(found) > _MOST_COLORS:
        raise UserError(
            f"{path} has {len(found)} colors, more than {_MOST_COLORS}; draw the strokes with a hard pencil (no "
            "anti-aliasing) and save as PNG."
        )
    labels[visible] += 1
    return labels


def _write(path: str, pixels: np.ndarray) -> None:
    from PIL import Image

    formats = {".tif": "TIFF", ".tiff": "TIFF"}
    suffix = Path(path).suffix.lower()
    with whole_file(path) as file:
        Image.fromarray(pixels).save(file, format=formats.get(suffix, suffix[1:].upper()))


def _gray_levels(result: Any) -> np.ndarray:
    found = np.unique(result.labels)
    if len(result.label_names) == 2:
        return (255 * result.mask).astype(np.uint8)
    return result.labels.astype(np.uint8 if found[-1] < 256 else np.uint16)


def _rgb(image: Any) -> np.ndarray:
    from evencut.segmentation.images import as_image

    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[2] in (2, 4):
        pixels = pixels[..., :-1]
    channels = as_image(pixels)
    return np.broadcast_to((255 * channels + 0.5).astype(np.uint8), (*channels.shape[:2], 3))


def _cutout(image: Any, result: Any) -> np.ndarray:
    if len(result.label_names) != 2:
        raise UserError(f"--cutout needs an object and a background, but there are {len(result.label_names)} labels.")
    return np.dstack([_rgb(image), (255 * result.mask).astype(np.uint8)])


def _overlay(image: Any, result: Any) -> np.ndarray:
    """Object as it is on a dim ground with a bright contour; more labels in colours of their own."""
    from scipy.ndimage import maximum_filter, minimum_filter

    photo = _rgb(image).astype(np.float64)
    codes = np.searchsorted(result.label_names, result.labels)
    if len(result.label_names) == 2:
        painted = np.where(codes[..., None] == 1, photo, 0.35 * photo)
    else:
        painted = 0.45 * photo + 0.55 * _COLORS[codes % len(_COLORS)]
    contour = maximum_filter(codes, 3) != minimum_filter(codes, 3)
    painted[contour] = (255, 230, 0)
    return painted.astype(np.uint8)
