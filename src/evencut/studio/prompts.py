"""Photos: decoded within bounds from bytes of strangers, what a user draws on them, and the chain of answers.

Clicks on the object and on the background are passed on as they are; one on a further region is a stroke, a disc of
radius 5."""

from __future__ import annotations

import io
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .methods import StrictModel
from .options import Limits, RequestError, TooLarge

Coordinate = Annotated[float, Field(ge=-10, le=100_000)]
_RADIUS = 5
_BACKGROUND, _OBJECT = 1, 2


class Prompt(StrictModel):
    """One gesture on an object: a box (x0, y0, x1, y1), or points with a label (1 background, 2 object, more regions).

    Examples
    --------
    >>> Prompt(kind="click", points=[(10, 20)], label=2).kind
    'click'
    """

    kind: Literal["box", "click", "stroke"]
    points: Annotated[list[tuple[Coordinate, Coordinate]], Field(min_length=1, max_length=5000)]
    label: Annotated[int, Field(ge=1, le=9)] = _OBJECT
    radius: Annotated[float, Field(ge=1, le=1000)] = _RADIUS
    object: Annotated[int, Field(ge=1, le=99)] = 1

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Corners of a box in order."""
        if len(self.points) != 2:
            raise RequestError("a box needs two corners.")
        (xa, ya), (xb, yb) = self.points
        return round(min(xa, xb)), round(min(ya, yb)), round(max(xa, xb)), round(max(ya, yb))


def extend(image: NDArray[Any], before: list[Any], prompts: list[Prompt], prepared: Callable[[], Any]) -> Any:
    """The result of `prompts`, where `before` holds the results of all their beginnings but the last.

    `prepared` gives what any first click on the image needs.
    """
    *earlier, last = prompts
    if last.kind != "box" and not drawn_strokes([last], image.shape).any():
        raise RequestError("this lies outside of the photo; draw inside.")
    if last.kind == "box" and earlier:
        raise RequestError("a box begins a cut-out; start over to draw another.")
    if _begins_anew(prompts) or not before or before[-1] is None:
        return _begin(image, prompts, prepared)
    if _is_click(last):
        return before[-1].refine(clicks=_as_clicks([last]))
    return before[-1].refine(drawn_strokes([last], image.shape))


def _begins_anew(prompts: list[Prompt]) -> bool:
    """Whether the last prompt changes what the first ones meant: a new label, such as the first word on background."""
    first, last = prompts[0], prompts[-1]
    if first.kind == "box" or (_starts_with_a_click(prompts) and last.label <= _OBJECT):
        return len(prompts) == 1
    known = {prompt.label for prompt in prompts[:-1]}
    return last.label not in known or (len(known) == 1 and known != {_OBJECT})


def _is_click(prompt: Prompt) -> bool:
    """Whether it can be passed on as it is."""
    return prompt.kind == "click" and prompt.label <= _OBJECT


def _starts_with_a_click(prompts: list[Prompt]) -> bool:
    """Whether the first gesture is a click on an object, which needs no box and no strokes."""
    return _is_click(prompts[0]) and prompts[0].label == _OBJECT


def _begin(image: NDArray[Any], prompts: list[Prompt], prepared: Callable[[], Any]) -> Any:
    """A fresh result; None while a single region is marked, since nothing is to be told apart yet."""
    from evencut.segmentation import segment

    if prompts[0].kind == "box":
        return segment(image, box=prompts[0].box)
    if len(prompts) == 1 and _starts_with_a_click(prompts):
        return prepared().begun_anew(_as_clicks(prompts))
    strokes = drawn_strokes(prompts, image.shape)
    labels = np.unique(strokes[strokes > 0])
    if list(labels) == [_OBJECT]:
        return segment(image, scribbles=drawn_strokes(prompts, image.shape, framed=True))
    if len(labels) < 2:
        return None
    return segment(image, scribbles=strokes)


def _as_clicks(prompts: list[Prompt]) -> list[tuple[int, int, str]]:
    names = {_BACKGROUND: "background", _OBJECT: "object"}
    return [(round(p.points[0][0]), round(p.points[0][1]), names[p.label]) for p in prompts]


def drawn_strokes(prompts: list[Prompt], shape: tuple[int, ...], framed: bool = False) -> NDArray[np.int64]:
    """The clicks and strokes among prompts as labels; later ones over earlier ones."""
    from evencut.segmentation import draw_strokes

    strokes = [(one.points, one.radius, one.label) for one in prompts if one.kind != "box"]
    return draw_strokes(shape, *strokes, framed=framed)


def code_lines(prompts: list[Prompt]) -> list[str]:
    """Python that makes the result of these prompts from `image`, as :func:`extend` did."""
    lines: list[str] = []
    for n in range(1, len(prompts) + 1):
        part, last = prompts[:n], prompts[n - 1]
        if _begins_anew(part):
            lines = _code_of_beginning(part)
        elif _is_click(last):
            lines.append(f"result = result.refine(clicks={_as_clicks([last])!r})")
        else:
            lines.append(f"result = result.refine({_drawing([last])})")
    return lines


def _code_of_beginning(prompts: list[Prompt]) -> list[str]:
    if prompts[0].kind == "box":
        return [f"result = segment(image, box={prompts[0].box})"]
    if len(prompts) == 1 and _starts_with_a_click(prompts):
        return [f"result = segment(image, clicks={_as_clicks(prompts)!r})"]
    alone = {prompt.label for prompt in prompts} == {_OBJECT}
    return [f"result = segment(image, scribbles={_drawing(prompts, ', framed=True' if alone else '')})"]


def _drawing(prompts: list[Prompt], options: str = "") -> str:
    strokes = ", ".join(f"({prompt.points!r}, {prompt.radius!r}, {prompt.label})" for prompt in prompts)
    return f"draw_strokes(image.shape, {strokes}{options})"


_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF")
_LARGE = 1_500_000


def read_photo(data: bytes, limits: Limits, page: int = 0) -> tuple[NDArray[Any], int]:
    """The pixels of a page of a PNG, JPEG, WebP or TIFF file, turned upright, and how many pages there are.

    Its size is checked before it is decoded.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_FORMATS) as file:
                n_pages = min(getattr(file, "n_frames", 1), 1000) if file.format == "TIFF" else 1
                file.seek(min(page, n_pages - 1))
                width, height = file.size
                if width * height > limits.pixels:
                    raise TooLarge(
                        f"this photo has {width} x {height} pixels; {limits.pixels} are taken. Make it smaller."
                    )
                if min(width, height) < 8:
                    raise RequestError(f"this photo has {width} x {height} pixels; at least 8 x 8 are needed.")
                file.draft("RGB", (width, height))
                turned = ImageOps.exif_transpose(file)
                if turned.mode not in ("L", "RGB", "I;16"):
                    turned = turned.convert("RGB")
                pixels = np.array(turned)
    except UnidentifiedImageError as error:
        raise RequestError(f"this is {_called(data)}; the studio takes PNG, JPEG, WebP and TIFF.", 415) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooLarge("this photo unpacks to far more pixels than the studio takes. Make it smaller.") from error
    except (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError, KeyError, OverflowError) as error:
        raise RequestError(f"this photo is damaged ({' '.join(str(error).split())[:120]}).") from error
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "uif":
        raise RequestError("this photo has no pixels that can be shown.")
    return pixels, n_pages


def _called(data: bytes) -> str:
    """What a file is that is no photo known here, by its first bytes."""
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "a GIF"
    if data[:2] == b"BM":
        return "a BMP"
    if data[4:8] == b"ftyp":
        return "an AVIF photo" if data[8:12] in (b"avif", b"avis") else "a HEIC photo, as phones make them"
    return "no photo known here"


def as_rgb(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Three channels of 8 bits, for showing.

    Examples
    --------
    >>> as_rgb(np.array([[0, 32768]], dtype=np.uint16)).tolist()
    [[[0, 0, 0], [128, 128, 128]]]
    """
    channels = pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
    if channels.dtype == np.uint8:
        return np.ascontiguousarray(channels)
    # A code of 16 bits is as bright as it says, unless a camera of fewer bits has left the picture all but black.
    top = float(np.iinfo(channels.dtype).max) if channels.dtype.kind in "ui" else max(float(channels.max()), 1.0)
    low, high = 0.0, top
    if channels.size and float(channels.max()) < top / 8:
        low, high = (float(edge) for edge in np.percentile(channels, (0.1, 99.9)))
    return (np.clip((channels - low) / max(high - low, 1e-9), 0.0, 1.0) * 255 + 0.5).astype(np.uint8)


def encode(pixels: NDArray[np.uint8], kind: str = "PNG") -> bytes:
    """The bytes of an image file."""
    from PIL import Image

    file = io.BytesIO()
    options: dict[str, Any] = {"compress_level": 3} if kind == "PNG" else {"quality": 93}
    Image.fromarray(pixels).save(file, format=kind, **options)
    return file.getvalue()


#: Colours of labels in a map: none, background, then objects, the page's own colours.
_PALETTE = ("000000", "3a3f44", "0072b2", "d55e00", "009e73", "cc79a7", "8c6d00", "56b4e9", "7f3b8c", "e69f00")


def encode_map(labels: NDArray[np.uint8]) -> bytes:
    """The bytes of a PNG with a palette, whose values are the labels."""
    from PIL import Image

    colours = [*_PALETTE[:2], *(_PALETTE[2 + i % (len(_PALETTE) - 2)] for i in range(254))]
    image = Image.fromarray(labels).convert("L")
    image.putpalette(bytes.fromhex("".join(colours)))
    file = io.BytesIO()
    image.save(file, format="PNG")
    return file.getvalue()


def shown(pixels: NDArray[np.uint8]) -> tuple[bytes, str]:
    """A photo for the page: PNG where it is small, JPEG where that would be slow."""
    if pixels.shape[0] * pixels.shape[1] > _LARGE:
        return encode(pixels, "JPEG"), "image/jpeg"
    return encode(pixels), "image/png"


def cutout(pixels: NDArray[np.uint8], mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The object on a transparent ground."""
    return np.dstack([pixels, (255 * mask).astype(np.uint8)])


def unpacked(packed: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Labels of pixels as they were before they were packed."""
    return np.frombuffer(zlib.decompress(packed), np.uint8).reshape(shape)


class StepFacts(StrictModel):
    """What is told of an answer, as a project file keeps it."""

    seconds: float = 0.0
    energy: Annotated[float, Field(allow_inf_nan=False)] | None = None
    rounds: int = 0
    converged: bool = True
    shares: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(default={})
    warnings: list[str] = Field(default=[])


@dataclass(frozen=True, eq=False)
class Step:
    """One gesture on a photo and its answer: the labels of the pixels for the gesture's object, packed."""

    prompt: Prompt
    packed: bytes
    facts: dict[str, Any]

    @property
    def n_bytes(self) -> int:
        """Memory it takes."""
        return len(self.packed)


@dataclass(eq=False)
class Photo:
    """A photo and what was drawn on it; the list of steps is replaced, never changed, so that moments can share it."""

    key: str
    name: str
    source: dict[str, Any]
    pixels: NDArray[Any]
    shown: bytes
    media_type: str
    steps: tuple[Step, ...] = ()
    names: dict[int, str] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """Memory it takes, without its steps."""
        return self.pixels.nbytes + len(self.shown)

    def objects(self) -> list[int]:
        """The objects that were begun, in order."""
        return sorted({step.prompt.object for step in self.steps})

    def prompts(self, of: int | None = None) -> list[Prompt]:
        """The gestures, or those of one object."""
        return [step.prompt for step in self.steps if of is None or step.prompt.object == of]

    def last_step(self, of: int) -> Step | None:
        """The gesture on an object that says what it is now."""
        return next((step for step in reversed(self.steps) if step.prompt.object == of), None)

    def labels_of(self, of: int, every: int = 1) -> NDArray[np.uint8]:
        """Labels of every so many pixels each way for one object: 0 unknown, 1 background, 2 object, more regions."""
        step = self.last_step(of)
        shape = self.pixels.shape[:2]
        labels = np.zeros(shape, np.uint8) if step is None else unpacked(step.packed, shape)
        return labels[::every, ::every]

    def labels(self, every: int = 1) -> NDArray[np.uint8]:
        """One map for all objects: 0 before any gesture, 1 background, 2 and up the objects, later ones on top.

        A single object keeps its own labels, so that several regions stay what they are.
        """
        objects = self.objects()
        if len(objects) <= 1:
            return self.labels_of(objects[0] if objects else 1, every)
        labels = np.ones(self.pixels[::every, ::every].shape[:2], np.uint8)
        for place, one in enumerate(objects):
            labels[self.labels_of(one, every) == 2] = place + 2
        return labels

    def about(self) -> dict[str, Any]:
        """For the page."""
        last = self.steps[-1] if self.steps else None
        return {
            "key": self.key,
            "name": self.name,
            "source": self.source,
            "height": self.pixels.shape[0],
            "width": self.pixels.shape[1],
            "n_steps": len(self.steps),
            "prompts": [prompt.model_dump() for prompt in self.prompts()][-200:],
            "objects": [
                {"object": one, "name": self.names.get(one, f"object {one}"), **_facts(self.last_step(one))}
                for one in self.objects()
            ],
            "facts": last.facts if last else None,
        }


def _facts(step: Step | None) -> dict[str, Any]:
    return {} if step is None else {"share": step.facts.get("shares", {}).get("2", 0.0)}
