"""`evencut segment`: an object cut out of a photo or volume from a box, clicks or strokes, or a photo in regions."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from evencut.cli.console import UserError, as_user_errors, progress, say
from evencut.cli.options import CRITERIA, EQUALIZE, Seed, number_of, number_or_name, one_of
from evencut.cli.outputs import atomic_write, check_distinct, check_writable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evencut.segmentation import ObjectMasks, Segmentation
    from evencut.tensors import AnyInts, Ints, Mask

_CRITERIA = ("entropy", *CRITERIA)
_KERNELS = ("knn", "gaussian")
_REGULARIZERS = ("contrast", "length", "none")

#: What a point and a box are, by the axes they have.
_NEEDS = {
    ("point", "XY"): "two numbers X,Y, such as 120,80",
    ("point", "XYZ"): "three numbers X,Y,Z, such as 120,80,40",
    ("box", "XY"): "four numbers X0,Y0,X1,Y1, such as 10,20,300,280",
    ("box", "XYZ"): "six numbers X0,Y0,Z0,X1,Y1,Z1, such as 10,20,5,300,280,60",
}
_FORMATS = {".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".webp": "WEBP", ".bmp": "BMP"}
_MOST_COLORS = 32
_MOST_LABELS = 255


def segment(
    photo: Annotated[
        str, Argument(metavar="PHOTO", help="An image file, or a volume: NIfTI, NRRD, OME-Zarr, a TIFF stack.")
    ],
    box: Annotated[
        str | None,
        Option(metavar="X0,Y0,X1,Y1", help="Box around the object, in pixels; of a volume X0,Y0,Z0,X1,Y1,Z1."),
    ] = None,
    click: Annotated[
        list[str] | None, Option(metavar="X,Y", help="A point on the object; may be repeated. Of a volume X,Y,Z.")
    ] = None,
    not_: Annotated[
        list[str] | None, Option("--not", metavar="X,Y", help="A point on the background; may be repeated.")
    ] = None,
    also: Annotated[
        list[str] | None,
        Option(metavar="X,Y", help="A point on another object, which gets the next label; may be repeated."),
    ] = None,
    scribbles: Annotated[
        str | None,
        Option(
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
        Option(
            "--out", "-o", metavar="FILE",
            help="Where to write the mask; by default a new file, NAME_mask.png, of a volume NAME_mask.nii.gz.",
        ),
    ] = None,
    cutout: Annotated[str | None, Option(metavar="FILE", help="Write the object on a transparent background.")] = None,
    overlay: Annotated[
        str | None, Option(metavar="FILE", help="Write the photo with the result drawn over it.")
    ] = None,
    criterion: Annotated[
        str | None, one_of("--criterion", "", _CRITERIA, " By default entropy, and normalized_cut with --regions.")
    ] = None,
    kernel: Annotated[str, one_of("--kernel", "", _KERNELS)] = "knn",
    equalize: Annotated[str, one_of("--equalize", "", EQUALIZE)] = "none",
    regularizer: Annotated[str, one_of("--regularizer", "Boundary term: ", _REGULARIZERS)] = "contrast",
    smoothness: Annotated[str, Option(metavar="W", help="Weight of the boundary term: auto or a number.")] = "auto",
    soft: Annotated[bool, Option("--soft", help="Let the object extend beyond the box.")] = False,
    seed: Seed = 0,
) -> None:
    """Cut an object out of a photo or a volume, or divide a photo into regions.

    The object is shown by a box, clicks or strokes.
    The mask is white on the object, black elsewhere; with more than two labels it is a palette picture whose values
    are the labels. The mask of a volume is 1 on the object and has the place in space of the volume.
    """
    with as_user_errors():
        from evencut import segmentation
        from evencut.segmentation.volumes import is_volume_file

        is_volume = is_volume_file(photo)
    out = out or _new_mask(photo, ".nii.gz" if is_volume else ".png")
    axes, unit, mark = ("XYZ", "voxels", "1") if is_volume else ("XY", "pixels", "white")
    clicks = _points("--click", click, "object", axes) + _points("--not", not_, "background", axes)
    further_clicks = _points("--also", also, "object", axes)
    two_sided = box is not None or bool(clicks)
    if further_clicks and not two_sided:
        raise UserError("--also is for further objects; show the first with --click or --box.")
    if (regions is None) == (not two_sided and scribbles is None):
        raise UserError(
            "give --box X0,Y0,X1,Y1, --click X,Y or --scribbles FILE to cut something out, or --regions K alone to "
            "divide the photo."
        )
    check_distinct(photo=photo, scribbles=scribbles, mask=out, cutout=cutout, overlay=overlay)
    if is_volume:
        check_volume_outputs(out, {"--cutout": cutout, "--overlay": overlay, "--regions": regions})
    hints: dict[str, Any] = {"clicks": clicks or None}
    with as_user_errors(), progress() as step:
        hints["box"] = None if box is None else _numbers("--box", box, "box", axes)
        step(f"reading {photo}")
        if is_volume:
            volume = segmentation.read_volume(photo)
            image: Any = volume.voxels
            strokes = None if scribbles is None else read_volume_strokes(scribbles)
        else:
            image = segmentation.read_image(photo)
            strokes = None if scribbles is None else read_strokes(scribbles, object_and_background=two_sided)
            _check_outputs(out, cutout, overlay, len(further_clicks) + _number_of_labels(regions, strokes, two_sided))
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
            result: Any = segmentation.partition(image, regions, **options)
        else:
            hints["scribbles"] = strokes
            options |= {"hard": not soft, "spacing": volume.spacing if is_volume else None}
            if further_clicks:
                prompts = [hints, *({"clicks": [place]} for place in further_clicks)]
                result = segmentation.segment_many(image, prompts, **options)
            else:
                result = segmentation.segment(image, **hints, **options)
        step("writing")
        names = result.label_names
        if is_volume:
            # 1 on the object of two labels; the labels unchanged if there are more.
            labels = (result.labels == names[1]).astype("uint8") if len(names) == 2 else result.labels
            with atomic_write(out) as file:
                segmentation.write_labels(out, file, labels, volume)
        else:
            write_mask(out, result.labels, names)
        if cutout is not None:
            write_cutout(cutout, image, result.labels == names[1])
        if overlay is not None:
            write_overlay(overlay, image, result.labels, names)
    written = " and ".join(str(path) for path in (out, cutout, overlay) if path is not None)
    shares = _shares(result, two_sided, mark)
    say(f"wrote {written} ({shares} of the {unit}; {sum(result.timings.values()):.1f} CPU s)")


def _new_mask(photo: str, suffix: str) -> str:
    """The name of a mask that does not exist yet, after the photo."""
    stem = Path(photo).name.removesuffix(".gz").rpartition(".")[0] or Path(photo).name
    names = (f"{stem}_mask{'' if number == 1 else f'_{number}'}{suffix}" for number in count(1))
    return next(name for name in names if not Path(name).exists())


def _shares(result: Segmentation | ObjectMasks, two_sided: bool, mark: str) -> str:
    """How much of the picture each label has, and what a mask of two labels shows as the object."""
    names = result.label_names.tolist()
    share = {name: f"{float((result.labels == name).mean()):.1%}" for name in names}
    if len(names) == 2 and two_sided:
        return f"object ({mark}): {share[names[1]]}, background: {share[names[0]]}"
    marks = {names[1]: f" ({mark})"} if len(names) == 2 else {}
    return ", ".join(f"label {name}{marks.get(name, '')}: {share[name]}" for name in names)


def _number_of_labels(regions: int | None, strokes: np.ndarray | None, two_sided: bool) -> int:
    """How many labels the result will have, known before the work begins."""
    if regions is not None:
        return regions
    return 2 if two_sided or strokes is None else len({*strokes.ravel().tolist()} - {0})


def _check_outputs(out: str, cutout: str | None, overlay: str | None, n_labels: int) -> None:
    """Raise a `UserError` unless a mask of so many labels and the other pictures can be written."""
    _check_picture(out, n_labels)
    for path in (cutout, overlay):
        if path is not None:
            _check_picture(path)
    if cutout is not None and n_labels > 2:
        raise UserError(f"--cutout needs an object and a background, but there are {n_labels} labels; leave it out.")


def _points(option: str, texts: list[str] | None, kind: str, axes: str) -> list[tuple[Any, ...]]:
    return [(*_numbers(option, text, "point", axes), kind) for text in texts or []]


def _numbers(option: str, text: str, what: str, axes: str) -> list[float]:
    with suppress(ValueError):
        numbers = [float(number) for number in text.split(",")]
        if len(numbers) == len(axes) * (2 if what == "box" else 1):
            return numbers
    raise UserError(f"{option} {text} is not a {what}; give {_NEEDS[what, axes]}.")


def _check_picture(path: str, n_labels: int = 2) -> None:
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise UserError(f"cannot write {path}: its name must end in one of {', '.join(_FORMATS)}.")
    if n_labels > 2 and suffix == ".webp":
        raise UserError(f"cannot write {path}: WebP holds no mask of {n_labels} labels; use a name that ends in .png.")
    if n_labels > _MOST_LABELS:
        raise UserError(f"cannot write {path}: a mask holds at most {_MOST_LABELS} labels, not {n_labels}.")
    check_writable(path)


def read_strokes(path: str, *, object_and_background: bool) -> Ints:
    """Labels of the strokes in an image file: grey levels as they are, colours numbered.

    Parameters
    ----------
    path : str
    object_and_background : bool
        Whether red (or 2) means object and blue (or 1) background; any other colours are labels otherwise.
    """
    import numpy as np

    from evencut.segmentation import read_image

    drawn: NDArray[Any] = np.asarray(read_image(path))
    if drawn.ndim == 2:
        return drawn.astype(np.int64)
    opaque = drawn[..., -1] >= 128 if drawn.shape[2] in (2, 4) else np.ones(drawn.shape[:2], dtype=bool)
    if drawn.shape[2] == 2:
        return np.where(opaque, drawn[..., 0], 0).astype(np.int64)
    colors = drawn[..., :3].astype(np.int64)
    visible = colors.any(axis=2) & opaque
    labels = np.zeros(visible.shape, dtype=np.int64)
    if object_and_background:
        labels[visible & (colors[..., 2] > colors[..., 0])] = 1
        labels[visible & (colors[..., 0] > colors[..., 2])] = 2
        return labels
    codes = (colors[..., 0] << 16) + (colors[..., 1] << 8) + colors[..., 2]
    shades, labels[visible] = np.unique(codes[visible], return_inverse=True)
    if len(shades) > _MOST_COLORS:
        raise UserError(
            f"{path} has {len(shades)} colours, more than {_MOST_COLORS}; draw the strokes with a hard pencil (no "
            "anti-aliasing) and save as PNG."
        )
    labels[visible] += 1
    return labels


def write_mask(path: str | Path, labels: AnyInts, names: AnyInts) -> None:
    """White on the larger of two labels; a palette picture, whose values are the labels, if there are more."""
    import numpy as np
    from PIL import Image

    if len(names) == 2:
        picture = Image.fromarray((255 * (labels == names[1])).astype(np.uint8))
    else:
        from evencut.plotting import label_colors

        palette = np.zeros((256, 3), dtype=np.uint8)
        palette[names] = label_colors(len(names))
        picture = Image.fromarray(labels.astype(np.uint8), mode="L")
        picture.putpalette(palette.ravel().tolist())
    _write(path, picture)


def write_cutout(path: str, image: Any, mask: Mask) -> None:
    """The object on a transparent ground."""
    import numpy as np
    from PIL import Image

    _write(path, Image.fromarray(np.dstack([_rgb(image), (255 * mask).astype(np.uint8)])))


def write_overlay(path: str, image: Any, labels: AnyInts, names: AnyInts) -> None:
    """The photo with the labels painted over it."""
    import numpy as np
    from PIL import Image

    from evencut.plotting import paint_labels

    _write(path, Image.fromarray(paint_labels(_rgb(image), np.searchsorted(names, labels), len(names))))


def _write(path: str | Path, picture: Any) -> None:
    with atomic_write(path) as file:
        picture.save(file, format=_FORMATS[Path(path).suffix.lower()])


def _rgb(image: Any) -> NDArray[np.uint8]:
    import numpy as np

    from evencut.segmentation.images import as_image

    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[2] in (2, 4):
        pixels = pixels[..., :-1]
    channels = as_image(pixels)
    return np.broadcast_to((255 * channels + 0.5).astype(np.uint8), (*channels.shape[:2], 3))


def check_volume_outputs(out: str, for_photos: dict[str, Any]) -> None:
    """Raise a `UserError` unless the mask of a volume can be written to `out` and no option for photos is used."""
    from evencut.segmentation.volumes import check_volume_name

    for option, value in for_photos.items():
        if value is not None:
            raise UserError(f"{option} is for photos; leave it out for a volume.")
    with as_user_errors():
        check_volume_name(out)
    check_writable(out)


def read_volume_strokes(path: str) -> Ints:
    """Labels of the strokes in a volume of whole numbers, 0 elsewhere."""
    from evencut.segmentation import read_volume

    strokes = read_volume(path).voxels
    if strokes.dtype.kind == "f" and (strokes == strokes.round()).all():
        strokes = strokes.astype("int64")
    if strokes.dtype.kind not in "biu":
        raise UserError(f"{path} holds values of type {strokes.dtype}; strokes are whole numbers, 0 for none.")
    return strokes.astype("int64")
