"""The widget: three layers are chosen or made, two buttons cut and undo. Needs napari and magicgui."""

from __future__ import annotations

from typing import Any

from .clicking import Clicking

_COLORS = {"object": "red", "background": "blue"}


class CutOut:
    """The layers of one image in a viewer: points on object and background, and the labels they lead to.

    Parameters
    ----------
    viewer : napari.components.ViewerModel
    layer : napari.layers.Image
    """

    def __init__(self, viewer: Any, layer: Any):
        self.viewer, self.layer = viewer, layer
        n_axes = layer.ndim
        self.clicking = Clicking(layer.data, n_axes, tuple(float(side) for side in layer.scale[-n_axes:]))
        place = {"scale": layer.scale, "translate": layer.translate}
        self.labels = viewer.add_labels(self.clicking.labels, name=f"{layer.name}: object", **place)
        self.points = {
            kind: viewer.add_points(ndim=n_axes, name=f"{layer.name}: {kind} clicks", face_color=color, **place)
            for kind, color in _COLORS.items()
        }

    def cut(self) -> None:
        """Cut the object out from the points there are."""
        self.labels.data = self.clicking.update(self.points["object"].data, self.points["background"].data)

    def undo(self) -> None:
        """Go back to the points and labels before the last cut."""
        self.labels.data = self.clicking.undo()
        for kind, layer in self.points.items():
            layer.data = self.clicking.points(kind)


def cut_out_widget(viewer: Any) -> Any:
    """The widget that napari shows: an image to choose, and buttons to begin, cut and undo.

    Parameters
    ----------
    viewer : napari.Viewer
    """
    from magicgui.widgets import Container, PushButton, create_widget

    image = create_widget(annotation="napari.layers.Image", label="image")
    begin, cut, undo = (PushButton(text=text) for text in ("New object", "Cut out", "Undo"))
    current: list[CutOut] = []
    begin.changed.connect(lambda: current.append(CutOut(viewer, image.value)) if image.value is not None else None)
    cut.changed.connect(lambda: current[-1].cut() if current else None)
    undo.changed.connect(lambda: current[-1].undo() if current else None)
    return Container(widgets=[image, begin, cut, undo])
