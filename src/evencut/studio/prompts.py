"""Photos: decoded within bounds from untrusted bytes, the gestures on them, and the chain of answers.

Clicks on the object and on the background are passed on as they are; one on a further region is a stroke, a disc of
radius 5."""

from __future__ import annotations

import io
import secrets
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


def extend(image: NDArray[Any], results: list[Any], prompts: list[Prompt], prepared: Callable[[], Any]) -> Any:
    """The result of `prompts`, where `results` are those of all their beginnings but the last.

    `prepared` gives what any first click on the image needs.
    """
    from evencut.segmentation import segment

    *earlier, last = prompts
    if last.kind != "box" and not drawn_strokes([last], image.shape).any():
        raise RequestError("this lies outside of the photo; draw inside.")
    if last.kind == "box" and earlier:
        raise RequestError("a box begins a cut-out; start over to draw another.")
    begins = _begins_anew(prompts) or results[-1] is None
    kind, hint = _said(prompts, begins)
    if kind == "box":
        return segment(image, box=hint)
    if kind == "clicks":
        return prepared().begun_anew(hint) if begins else results[-1].refine(clicks=hint)
    strokes = drawn_strokes(hint, image.shape)
    if not begins:
        return results[-1].refine(strokes)
    labels = np.unique(strokes[strokes > 0]).tolist()
    if labels == [_OBJECT]:
        return segment(image, scribbles=drawn_strokes(hint, image.shape, framed=True))
    # While a single region is marked there is nothing to distinguish yet.
    return segment(image, scribbles=strokes) if len(labels) > 1 else None


def _begins_anew(prompts: list[Prompt]) -> bool:
    """Whether the last prompt changes what the first ones meant: a new label, such as the first word on background."""
    first, last = prompts[0], prompts[-1]
    begun_by_click = _is_click(first) and first.label == _OBJECT
    if first.kind == "box" or (begun_by_click and last.label <= _OBJECT):
        return len(prompts) == 1
    known = {prompt.label for prompt in prompts[:-1]}
    return last.label not in known or (len(known) == 1 and known != {_OBJECT})


def _is_click(prompt: Prompt) -> bool:
    """Whether it can be passed on as it is."""
    return prompt.kind == "click" and prompt.label <= _OBJECT


def _said(prompts: list[Prompt], begins: bool) -> tuple[str, Any]:
    """What the library is told by the last prompt, or by all where it begins anew: a box, clicks, or what is drawn."""
    current = prompts if begins else prompts[-1:]
    if begins and prompts[0].kind == "box":
        return "box", prompts[0].box
    if len(current) == 1 and _is_click(current[0]) and (current[0].label == _OBJECT or not begins):
        return "clicks", _as_clicks(current)
    return "scribbles", current


def _as_clicks(prompts: list[Prompt]) -> list[tuple[int, int, str]]:
    names = {_BACKGROUND: "background", _OBJECT: "object"}
    return [(round(p.points[0][0]), round(p.points[0][1]), names[p.label]) for p in prompts]


def drawn_strokes(prompts: list[Prompt], shape: tuple[int, ...], framed: bool = False) -> NDArray[np.int64]:
    """The clicks and strokes among prompts as labels; later ones over earlier ones."""
    from evencut.segmentation import draw_strokes

    strokes = [(prompt.points, prompt.radius, prompt.label) for prompt in prompts if prompt.kind != "box"]
    return draw_strokes(shape, *strokes, framed=framed)


def code_lines(prompts: list[Prompt]) -> list[str]:
    """Python that makes the result of these prompts from `image`, as :func:`extend` did."""
    lines: list[str] = []
    for n in range(1, len(prompts) + 1):
        begins = _begins_anew(prompts[:n])
        kind, hint = _said(prompts[:n], begins)
        argument = _drawing(hint, begins) if kind == "scribbles" else f"{kind}={hint!r}"
        if begins:
            lines = [f"result = segment(image, {argument})"]
        else:
            lines.append(f"result = result.refine({argument})")
    return lines


def _drawing(prompts: list[Prompt], begins: bool) -> str:
    strokes = ", ".join(f"({prompt.points!r}, {prompt.radius!r}, {prompt.label})" for prompt in prompts)
    framed = ", framed=True" if begins and {prompt.label for prompt in prompts} == {_OBJECT} else ""
    return f"{'scribbles=' if begins else ''}draw_strokes(image.shape, {strokes}{framed})"


_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF")
_LARGE = 1_500_000


def read_photo(data: bytes, limits: Limits, page: int = 0) -> tuple[NDArray[Any], int]:
    """The pixels of a page of a PNG, JPEG, WebP or TIFF file, turned upright, and how many pages there are.

    Its size is checked before it is decoded.
    """
    from PIL import Image, UnidentifiedImageError

    from evencut.segmentation import read_image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_FORMATS) as file:
                n_pages = min(getattr(file, "n_frames", 1), 1000) if file.format == "TIFF" else 1
                file.seek(min(page, n_pages - 1))  # the pages of a stack differ in size
                width, height = file.size
                if width * height > limits.pixels:
                    raise TooLarge(
                        f"this photo has {width} x {height} pixels; {limits.pixels} are taken. Make it smaller."
                    )
                if min(width, height) < 8:
                    raise RequestError(f"this photo has {width} x {height} pixels; at least 8 x 8 are needed.")
            pixels: NDArray[Any] = read_image(io.BytesIO(data), min(page, n_pages - 1))
    except UnidentifiedImageError as error:
        raise RequestError(f"this is {_called(data)}; the studio takes PNG, JPEG, WebP and TIFF.", 415) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise TooLarge("this photo unpacks to far more pixels than the studio takes. Make it smaller.") from error
    except (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError, KeyError, OverflowError) as error:
        raise RequestError(f"this photo is damaged ({' '.join(str(error).split())[:120]}).") from error
    if pixels.ndim == 3:  # without the alpha channel
        pixels = pixels[..., 0] if pixels.shape[2] == 2 else pixels[..., :3]
    return pixels, n_pages


def _called(data: bytes) -> str:
    """The kind of another file, by its first bytes."""
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


def _for_page(pixels: NDArray[np.uint8]) -> tuple[bytes, str]:
    """The bytes and the type of a photo: PNG where it is small, JPEG where that would be slow."""
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

    @classmethod
    def of(cls, pixels: NDArray[Any], name: str, source: dict[str, Any]) -> Photo:
        """A photo on which nothing is drawn, with a copy for the page."""
        return cls(secrets.token_urlsafe(9), name, source, pixels, *_for_page(as_rgb(pixels)))

    @property
    def n_bytes(self) -> int:
        """Memory it takes, without its steps."""
        return self.pixels.nbytes + len(self.shown)

    def answers(self) -> dict[int, Step]:
        """The last gesture on each object, in the order of their numbers: it has the object's current labels."""
        return dict(sorted({step.prompt.object: step for step in self.steps}.items()))

    def objects(self) -> list[int]:
        """The objects that were begun, in order."""
        return [*self.answers()]

    def prompts(self, of: int | None = None) -> list[Prompt]:
        """The gestures, or those of one object."""
        return [step.prompt for step in self.steps if of is None or step.prompt.object == of]

    def labels_of(self, of: int, every: int = 1) -> NDArray[np.uint8]:
        """Labels of every so many pixels each way for one object: 0 unknown, 1 background, 2 object, more regions."""
        step = self.answers().get(of)
        shape = self.pixels.shape[:2]
        labels = np.zeros(shape, np.uint8) if step is None else unpacked(step.packed, shape)
        return labels[::every, ::every]

    def labels(self, every: int = 1) -> NDArray[np.uint8]:
        """One map for all objects: 0 before the first gesture, 1 background, 2 and up the objects, later ones on top.

        A single object keeps its own labels, so that several regions stay what they are.
        """
        objects = self.objects()
        if len(objects) <= 1:
            return self.labels_of(objects[0] if objects else 1, every)
        labels = np.ones(self.pixels[::every, ::every].shape[:2], np.uint8)
        for place, number in enumerate(objects):
            labels[self.labels_of(number, every) == 2] = place + 2
        return labels

    def about(self) -> dict[str, Any]:
        """For the page."""
        return {
            "key": self.key,
            "name": self.name,
            "source": self.source,
            "height": self.pixels.shape[0],
            "width": self.pixels.shape[1],
            "n_steps": len(self.steps),
            "prompts": [prompt.model_dump() for prompt in self.prompts()][-200:],
            "objects": [
                {
                    "object": number,
                    "name": self.names.get(number, f"object {number}"),
                    "share": step.facts.get("shares", {}).get("2", 0.0),
                }
                for number, step in self.answers().items()
            ],
            "facts": self.steps[-1].facts if self.steps else None,
        }
