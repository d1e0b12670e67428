"""What a user draws on a photo, and the answer: a list of boxes, clicks and strokes, in order, and a chain of results.

Clicks on the object and on the background are passed on as they are; one on a further region is a stroke, a disc of
radius 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from .refusals import Refused
from .sent import Sent

__all__ = ["Prompt", "code_lines", "drawn_strokes", "extend"]

Coordinate = Annotated[float, Field(ge=-10, le=100_000)]
_RADIUS = 5
_BACKGROUND, _OBJECT = 1, 2


class Prompt(Sent):
    """One gesture on an object: a box (x0, y0, x1, y1), or points with a label (1 background, 2 object, more regions).

    Examples
    --------
    >>> Prompt(kind="click", points=[(10, 20)], label=2).kind
    'click'
    """

    kind: Literal["box", "click", "stroke"]
    points: Annotated[list[tuple[Coordinate, Coordinate]], Field(min_length=1, max_length=5000)]
    label: Annotated[int, Field(ge=1, le=9)] = _OBJECT
    radius: Annotated[float, Field(ge=1, le=60)] = _RADIUS
    object: Annotated[int, Field(ge=1, le=99)] = 1

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Corners of a box in order."""
        if len(self.points) != 2:
            raise Refused("a box needs two corners.")
        (xa, ya), (xb, yb) = self.points
        return round(min(xa, xb)), round(min(ya, yb)), round(max(xa, xb)), round(max(ya, yb))


def extend(image: NDArray[Any], before: list[Any], prompts: list[Prompt], prepared: Callable[[], Any]) -> Any:
    """The result of `prompts`, where `before` holds the results of all their beginnings but the last.

    `prepared` gives what any first click on the image needs.
    """
    *earlier, last = prompts
    if last.kind != "box" and not drawn_strokes([last], image.shape).any():
        raise Refused("this lies outside of the photo; draw inside.")
    if last.kind == "box" and earlier:
        raise Refused("a box begins a cut-out; start over to draw another.")
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
