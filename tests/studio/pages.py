"""A page of the studio in a browser, and what tests ask of it again and again."""

import os
import re
import time
from pathlib import Path

READY_MS = int(os.environ.get("EVENCUT_BROWSER_MS", 120_000))
SHOTS = os.environ.get("EVENCUT_SCREENSHOTS")


class Page:
    """A page of the studio that remembers everything it should not have done."""

    def __init__(self, browser, studio, plain=False, **options):
        self.context = browser.new_context(viewport={"width": 1360, "height": 860}, **options)
        if not plain:
            self.context.add_init_script("localStorage['evencut-more'] ??= 'yes'")
        self.page = self.context.new_page()
        self.page.set_default_timeout(READY_MS)
        self.wrong = []
        self.replies = []
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self._check(request, studio.base))
        self.page.on("response", self._weigh)

    def _note(self, message):
        if message.type == "error":
            self.wrong.append(f"{message.text} {message.location['url']}")

    def _check(self, request, base):
        if not request.url.startswith((base, "data:", f"blob:{base}")):
            self.wrong.append(f"asked {request.url}")

    def _weigh(self, response):
        if response.headers.get("content-type") == "application/json":
            self.replies.append((int(response.headers.get("content-length", 0)), response.url))

    def open(self, address):
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready=yes]")
        return self.page

    def shot(self, name, **options):
        """A picture for the eye, where a folder for them is named."""
        if SHOTS:
            self.page.screenshot(path=Path(SHOTS) / f"{name}.png", **options)


def sizes(page, pane):
    """The sizes of the clusters a pane shows."""
    texts = page.locator(f"[data-pane={pane}] .size").all_inner_texts()
    return sorted(int(re.sub(r"[^\d]", "", text.split(":")[1])) for text in texts)


def wait_for_sizes(page, pane, expected):
    deadline = time.monotonic() + READY_MS / 1000
    while (found := sizes(page, pane)) != expected:
        assert time.monotonic() < deadline, (found, expected)
        page.wait_for_timeout(100)


def idle(page):
    page.wait_for_selector("#work", state="hidden")


def until(page, expression):
    """Wait until a JavaScript expression is true; the page's content policy forbids the browser's own way to wait."""
    deadline = time.monotonic() + READY_MS / 1000
    while not page.evaluate(f"() => Boolean({expression})"):
        assert time.monotonic() < deadline, expression
        page.wait_for_timeout(100)


def lasso(page, pane, left, top, right, bottom):
    """Draw around a part of a plot, given in shares of its size."""
    box = page.locator(f"[data-pane={pane}] .plot-over").bounding_box()
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()
