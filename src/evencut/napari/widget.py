"""The widget: an image is chosen, its layers are made, two buttons cut and undo. Needs napari and magicgui."""

from __future__ import annotations

from typing import Any

from .clicking import Clicking

_COLORS = {"object": "red", "background": "blue"}


class CutOut:
    """The layers of one object in a viewer: its points, and the labels of all objects of the image.

    Parameters
    ----------
    viewer : napari.components.ViewerModel
    layer : napari.layers.Image
    """

    def __init__(self, viewer: Any, layer: Any):
        n_axes = layer.ndim
        self.clicking = Clicking(layer.data, n_axes, tuple(float(side) for side in layer.scale[-n_axes:]))
        place = {"scale": layer.scale, "translate": layer.translate}
        name = f"{layer.name}: objects"
        if name not in viewer.layers:
            viewer.add_labels(self.clicking.labels, name=name, metadata=layer.metadata, **place)
        self.labels = viewer.layers[name]
        self.number = int(self.labels.data.max()) + 1
        self.points = {
            kind: viewer.add_points(ndim=n_axes, name=f"{layer.name}: {kind} {self.number}", face_color=color, **place)
            for kind, color in _COLORS.items()
        }

    def cut(self) -> None:
        """Cut the object out from its points."""
        self.clicking.update(self.points["object"].data, self.points["background"].data)
        self._show()

    def undo(self) -> None:
        """Go back to the points and labels before the last cut."""
        self.clicking.undo()
        self._show()
        for kind, layer in self.points.items():
            layer.data = self.clicking.points(kind)

    def _show(self) -> None:
        self.labels.data = self.clicking.painted(self.labels.data, self.number)


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
