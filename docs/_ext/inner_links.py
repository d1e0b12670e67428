"""After a build, follows every link inside the site; one that leads nowhere is a warning, and so an error under -W."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

logger = logging.getLogger(__name__)


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Collect what a tag links to, and the anchor it is."""
        attrs = dict(attrs)
        self.anchors.update(attrs[key] for key in ("id", "name") if attrs.get(key))
        self.links.update(attrs[key] for key in ("href", "src") if attrs.get(key))


def setup(app):
    """Check when the build is done."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}


def check(app, exception):
    """Warn of every inner link without a target."""
    if exception is not None or app.builder.name != "html":
        return
    root = Path(app.outdir)
    pages = {path.resolve(): Page(path) for path in root.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            there = target.exists()
            if there and anchor and target in pages and anchor not in ("", "top"):
                there = anchor in pages[target].anchors
            if not there:
                logger.warning("%s: the link %s leads nowhere", path.relative_to(root), link, type="links")
