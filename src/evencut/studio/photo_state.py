"""Photos of a session: the pixels, the gestures on each object, and the labels that came out."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .prompts import Prompt

_SHOWN_PROMPTS = 200


def unpacked(packed: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Labels of pixels as they were before they were packed."""
    return np.frombuffer(zlib.decompress(packed), np.uint8).reshape(shape)


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
            "prompts": [prompt.model_dump() for prompt in self.prompts()][-_SHOWN_PROMPTS:],
            "objects": [
                {"object": one, "name": self.names.get(one, f"object {one}"), **_facts(self.last_step(one))}
                for one in self.objects()
            ],
            "facts": last.facts if last else None,
        }


def _facts(step: Step | None) -> dict[str, Any]:
    return {} if step is None else {"share": step.facts.get("shares", {}).get("2", 0.0)}
