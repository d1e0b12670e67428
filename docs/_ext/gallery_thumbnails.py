"""Thumbnails of the gallery without the empty bands that wide pictures get above and below."""

from pathlib import Path


def setup(app):
    """Trim when the examples have run, before the pages are read."""
    app.connect("env-before-read-docs", trim)
    return {"parallel_read_safe": True}


def trim(app, env, docnames):
    """Cut every thumbnail down to what is drawn on it."""
    from PIL import Image

    for path in (Path(app.srcdir) / "gallery" / "images" / "thumb").glob("*.png"):
        with Image.open(path) as picture:
            drawn = picture.convert("RGBA")
        box = drawn.getbbox()
        if box and box != (0, 0, *drawn.size):
            drawn.crop(box).save(path)
