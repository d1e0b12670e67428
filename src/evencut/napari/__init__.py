"""The plugin for napari: points on images and volumes in, labels out, with undo; napari finds it by `napari.yaml`."""

from .clicking import Clicking, clicks_of

__all__ = ["Clicking", "clicks_of"]
