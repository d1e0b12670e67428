"""How fast the studio is where a user waits, in a real browser on this machine; writes `benchmarks/STUDIO.md`.

`python -m benchmarks studio` needs the system's Chromium and the extra `test`. Everything is measured in one run, with
the processor alone: the browser has no graphics hardware here.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from .records import publish
from .studio_live import click_seconds, live_section

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
MILLION = 1_000_000
PAN_S = 4.0
CLICKS = 20
MORE = "localStorage['evencut-more'] = 'yes'"  # two sides and all methods

# Pans a plot by pointer events, one a frame, and counts the frames that were painted.
PAN = """async (seconds) => {
  const over = document.querySelector('.pane.active .plot-over');
  const box = over.getBoundingClientRect();
  over.setPointerCapture = () => {};
  const send = (kind, x) => over.dispatchEvent(new PointerEvent(kind,
    {pointerId: 1, clientX: box.left + 150 + x, clientY: box.top + 120, button: 0, bubbles: true}));
  send('pointerdown', 0);
  const start = performance.now();
  let frames = 0;
  for (let x = 0; performance.now() - start < 1000 * seconds; frames++) {
    x = (x + 3) % 150;
    send('pointermove', x);
    await new Promise(requestAnimationFrame);
  }
  send('pointerup', 0);
  return frames / ((performance.now() - start) / 1000);
}"""

# The same million points painted by the studio in memory and by WebGL, a frame each time waited for.
DRAW = """async ([n, frames]) => {
  const { Raster } = await import('/static/js/raster.js');
  const { openWebGL } = await import('/static/js/webgl.js');
  localStorage.setItem('evencut-renderer', 'webgl');
  const xy = Float32Array.from({length: 2 * n}, () => 2 * Math.random() - 1);
  const colours = {index: new Int8Array(n), table: Uint32Array.of(0, 0xffb27200)};
  const [width, height] = [1000, 700];
  const canvas = document.createElement('canvas');
  const painters = [new Raster(document.createElement('canvas')), openWebGL(canvas, n, () => {})];
  localStorage.removeItem('evencut-renderer');
  const gl = painters[1] && canvas.getContext('webgl2');
  const seconds = painters.map((painter) => {
    if (!painter) return null;
    const frame = (shift) => {
      const map = {sx: 400, sy: -300, tx: 500 + shift, ty: 350};
      painter.paint({width, height, ground: '#ffffff', xy, turns: 0, parts: [{colours}], map, radius: 0.9});
      gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    };
    frame(0);
    const start = performance.now();
    for (let i = 0; i < frames; i++) frame(i);
    return (performance.now() - start) / frames;
  });
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  const renderer = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : 'unknown';
  return {ours: seconds[0], webgl: seconds[1], renderer};
}"""


class Server:
    """A studio, and how long its command took to tell the address."""

    def __init__(self, folder: Path, python: str = sys.executable):
        start = time.perf_counter()
        command = [python, "-m", "evencut", "studio", "--no-browser", "--no-autosave"]
        self.process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        found = next((match for line in self.process.stderr if (match := re.search(r"http://\S+", line))), None)
        if found is None:
            raise SystemExit("the studio did not start")
        self.address = found.group(0)
        self.start_s = time.perf_counter() - start
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def million_points(folder: Path) -> dict[str, Path]:
    """Five blobs of different density, as NPY and as CSV."""
    import pyarrow
    import pyarrow.csv

    rng = np.random.default_rng(0)
    kind = rng.integers(0, 5, MILLION)
    X = (
        np.c_[np.cos(1.25 * kind), np.sin(1.25 * kind)] * 3
        + rng.normal(size=(MILLION, 2)) * (0.2 + 0.1 * kind)[:, None]
    )
    np.save(folder / "million.npy", X)
    pyarrow.csv.write_csv(pyarrow.table({"x": X[:, 0], "y": X[:, 1]}), folder / "million.csv")
    return {"NPY": folder / "million.npy", "CSV": folder / "million.csv"}


def photo(folder: Path) -> Path:
    from PIL import Image
    from sklearn.datasets import load_sample_image

    path = folder / "photo.png"
    Image.fromarray(load_sample_image("flower.jpg")).resize((640, 480)).save(path)
    return path


def first_look(page, address: str) -> dict[str, float]:
    """Seconds from opening the address to the first paint and to both clusterings of the example."""
    page.goto(address)
    page.wait_for_selector("[data-pane=b] .size")
    page.wait_for_selector("[data-pane=a] .size")
    clustered = page.evaluate("performance.now()") / 1000
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN") / 1000
    page.wait_for_selector("html[data-ready=yes]")
    return {"first paint": paint, "both clusterings": clustered}


def shown(page, file: Path) -> float:
    """Seconds from choosing a file of a million points to its points on the screen."""
    page.evaluate("document.querySelector('.data-line .quiet').textContent = ''")
    before = page.evaluate("performance.now()")
    page.set_input_files("#points-file", file)
    page.wait_for_selector("text=1,000,000 rows")
    page.wait_for_selector(".notice >> text=Group my rows")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    after = page.evaluate("performance.now()")
    page.locator(".notice button").last.click()
    return (after - before) / 1000


def clicks(page, file: Path) -> list[float]:
    """Seconds from each click on a photo of 640 x 480 to its answer on the screen."""
    page.click("#tab-photos")
    page.wait_for_selector("text=640 × 427 pixels")
    page.set_input_files("#photo-file", file)
    page.wait_for_selector("text=640 × 480 pixels")
    box = page.locator(".photo-canvas").bounding_box()
    scale = min((box["width"] - 24) / 640, (box["height"] - 24) / 480)

    def place(x: float, y: float) -> tuple[float, float]:
        return box["x"] + box["width"] / 2 + (x - 320) * scale, box["y"] + box["height"] / 2 + (y - 240) * scale

    page.mouse.move(*place(150, 70))
    page.mouse.down()
    page.mouse.move(*place(560, 470), steps=4)
    page.mouse.up()
    page.wait_for_selector(".photos-half .facts >> text=1 gesture")
    rng = np.random.default_rng(0)
    clicks = []
    for number in range(CLICKS):
        inside = number % 2 == 0
        angle = rng.uniform(0, 2 * np.pi)
        radius = rng.uniform(20, 90) if inside else rng.uniform(175, 190)
        where = place(310 + radius * np.cos(angle), 240 + radius * np.sin(angle))
        clicks.append((*where, "left" if inside else "right"))
    return click_seconds(page, clicks)


def chromium() -> str:
    program = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if program is None:
        raise SystemExit("this benchmark needs Chromium: apt-get install chromium")
    return program


def measure_live(folder: Path) -> str:
    """The section about what is answered while the user moves."""
    from playwright.sync_api import sync_playwright

    server = Server(folder)
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.add_init_script(MORE)
            page.set_default_timeout(300_000)
            page.goto(server.address)
            page.wait_for_selector("html[data-ready=yes]")
            text = live_section(page, server.process.pid, folder)
            browser.close()
    finally:
        server.close()
    return text


def measure(folder: Path) -> dict:
    from playwright.sync_api import sync_playwright

    server = Server(folder)
    result: dict = {"start": server.start_s}
    heaviest = [0, ""]

    def weigh(response) -> None:
        size = int(response.headers.get("content-length", 0))
        if response.headers.get("content-type") == "application/json" and size > heaviest[0]:
            heaviest[:] = size, re.sub(r"sessions/[^/]+", "sessions/…", response.url.partition("/api")[2])

    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            result["browser"] = f"Chromium {browser.version}"
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.add_init_script(MORE)
            page.set_default_timeout(180_000)
            page.on("response", weigh)
            result["first"] = first_look(page, server.address)
            result["draw"] = page.evaluate(DRAW, [MILLION, 12])
            result["shown"] = {kind: shown(page, file) for kind, file in million_points(folder).items()}
            result["pan two"] = page.evaluate(PAN, PAN_S)
            page.get_by_role("button", name="One", exact=True).click()
            result["pan one"] = page.evaluate(PAN, PAN_S)
            result["clicks"] = clicks(page, photo(folder))
            page.select_option("[data-control=photo-example]", "flower")
            browser.close()
    finally:
        server.close()
    result["heaviest"] = heaviest
    return result


def page_of(found: dict) -> str:
    today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    load = os.getloadavg()
    draw, taken = found["draw"], found["clicks"]
    webgl = (
        "not available"
        if draw["webgl"] is None
        else f"{draw['webgl']:.0f} ms ({draw['renderer'].split(',')[-1].strip(' )')})"
    )
    ratio = "" if draw["webgl"] is None else f"; ratio {draw['webgl'] / draw['ours']:.0f}"
    rows = [
        ("the command tells its address (imports, first worker ready)", "", f"{found['start']:.1f} s"),
        ("first paint after opening it", "1 s", f"{found['first']['first paint']:.2f} s"),
        ("both clusterings of the example on the screen", "2 s", f"{found['first']['both clusterings']:.2f} s"),
        *((f"a million points shown, {kind}", "5 s", f"{s:.1f} s") for kind, s in found["shown"].items()),
        ("panning a million points, one plot", "30 frames/s", f"{found['pan one']:.0f} frames/s"),
        ("panning a million points, two linked plots", "30 frames/s", f"{found['pan two']:.0f} frames/s"),
        ("a click on a photo of 640 x 480, median of 20", "0.3 s", f"{statistics.median(taken):.2f} s"),
        ("the slowest of those clicks", "", f"{max(taken):.2f} s"),
        ("largest JSON reply", "200 kB", f"{found['heaviest'][0] / 1e3:.1f} kB (`{found['heaviest'][1]}`)"),
    ]
    table = "\n".join(f"| {what} | {goal} | {value} |" for what, goal, value in rows)
    return f"""# The studio, where a user waits

Written by `python -m benchmarks studio` on {today}: the command started as a user would,
{found["browser"]} without graphics hardware, one run. Compiled code was in its cache.

| | goal | measured |
|---|---|---|
{table}

While the view moves, each plot draws as many of its points as a frame has time for, evenly chosen, and all of them when
it rests; the frames counted are those. Panning is by pointer events, one a frame, over {PAN_S:g} s.

## Points painted in memory and by WebGL

A million points of 2 by 2 pixels on a canvas of 1000 x 700, all of them in every frame:

| | milliseconds a frame |
|---|---|
| straight into the canvas' memory | {draw["ours"]:.0f} ms |
| WebGL 2{ratio} | {webgl} |

Where there is graphics hardware, plots of 20 000 points and more are painted by WebGL; where it is software that stands
for hardware, as here, or none, in memory. Both paint the same picture.

Machine: {os.cpu_count()} cores, {platform.system()} {platform.release()}, Python {platform.python_version()}.
Load average at the end: {load[0]:.1f}, {load[1]:.1f}, {load[2]:.1f}; niceness {os.nice(0)}. Where the load is above the
number of cores the machine was shared, and times are too long unless the niceness is negative.
"""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--live", action="store_true", help="only what is answered while the user moves")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        sections = {} if chosen.live else {"all": page_of(measure(Path(folder)))}
        sections["live"] = measure_live(Path(folder))
    print(publish("studio", sections))


if __name__ == "__main__":
    main()
