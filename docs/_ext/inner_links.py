"""After a build, follows every link and picture inside the site; one that leads nowhere is a warning, so an error."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The tags of a page with their attributes, its anchors, and its formulas."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.anchors, self.formulas = [], {"", "top"}, []
        self._formula = None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Keep the tag, and the anchor it is."""
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.anchors.update(attrs[key] for key in ("id", "name") if attrs.get(key))
        if "math" in (attrs.get("class") or "").split():
            self._formula = ""

    def handle_data(self, data):
        """Words inside a formula are the formula."""
        if self._formula is not None:
            self._formula += data

    def handle_endtag(self, tag):
        """The end of a formula."""
        if self._formula is not None and tag in ("span", "div"):
            self.formulas.append(self._formula)
            self._formula = None


def setup(app):
    """Check when the build is done."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}


def check(app, exception):
    """Warn of every inner link without a target."""
    from sphinx.util import logging

    if exception is None and app.builder.name == "html":
        root = Path(app.outdir)
        for path, link in broken_links(read_pages(root)):
            logging.getLogger(__name__).warning("%s: the link %s leads nowhere", path.name, link, type="links")


def read_pages(root):
    """Every page of a site."""
    return {path.resolve(): Page(path) for path in Path(root).rglob("*.html")}


def broken_links(pages):
    """The links and pictures that lead to no file, to an empty one, or to an anchor that is not there."""
    for path, page in pages.items():
        for link in {attrs[key] for _, attrs in page.tags for key in ("href", "src") if attrs.get(key)}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.exists() and (target.is_dir() or target.stat().st_size > 0)
            if not there or (target in pages and unquote(parts.fragment) not in pages[target].anchors):
                yield path, link
