"""What the studio answers while a user moves: the slider at any number of rows, files dropped, large photos, memory.

`python -m benchmarks studio --live` measures this section alone. Each number of updates comes with the processor time
that an update takes, in the browser and in the studio, for a machine that is shared.
"""

from __future__ import annotations

import os
import statistics
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

__all__ = ["click_seconds", "live_section"]

ROWS = (600, 3_000, 100_000, 1_000_000)
DRAG_S = 4.0
CLICKS = 12
LOOK_S = 4.0  # a photo is looked at before it is clicked on; what every first click needs is made meanwhile
WORST = (252_000, 74)  # rows and columns: nearly as many values as are accepted, more rows than are grouped at once

# Drags the bandwidth, a step a frame, and counts the clusterings that were shown meanwhile.
DRAG = """async (seconds) => {
  const slider = document.getElementById("bandwidth-slider");
  const facts = document.querySelector("[data-pane=a] .facts");
  let shown = 0;
  const watch = new MutationObserver(() => (shown += facts.textContent.includes("while you drag")));
  watch.observe(facts, { childList: true, characterData: true, subtree: true });
  const start = performance.now();
  while (performance.now() - start < 1000 * seconds) {
    slider.value = String(50 + 250 * Math.abs(Math.sin((performance.now() - start) / 900)));
    slider.dispatchEvent(new Event("input"));
    await new Promise(requestAnimationFrame);
  }
  watch.disconnect();
  slider.dispatchEvent(new Event("change"));
  return shown;
}"""


# Notes the milliseconds from each press of a button on the photo to the frame that shows its answer.
WATCH = """() => {
  window.answered = [];
  let pressed = 0;
  document.querySelector(".photo-canvas").addEventListener("pointerdown", (event) => (pressed = event.timeStamp), true);
  const painted = (note) => requestAnimationFrame(() => requestAnimationFrame(note));
  new MutationObserver(() => {
    const begun = pressed;
    painted(() => window.answered.push(performance.now() - begun));
  }).observe(document.querySelector(".photos-half .facts"), { childList: true });
}"""


def processes(root: int) -> set[int]:
    """A process and all below it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {root}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def cpu_s(pids: set[int]) -> float:
    """Seconds of processor time that processes have taken."""
    total = 0.0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def points(folder: Path, n: int) -> Path:
    """Two blobs of different density."""
    rng = np.random.default_rng(0)
    half = n // 2
    X = np.vstack([rng.normal(size=(half, 2)), rng.normal(size=(n - half, 2)) * 0.3 + [3, 1]])
    np.save(folder / f"points{n}.npy", X.astype(np.float32))
    return folder / f"points{n}.npy"


def idle(page) -> None:
    page.wait_for_selector("#work", state="hidden")


def slider(page, server: int, file: Path, n: int) -> dict[str, float]:
    """Updates a second while the bandwidth is dragged, what one costs, and the wait from drop to both answers."""
    start = time.perf_counter()
    page.set_input_files("#points-file", file)
    page.wait_for_selector(f".data-name >> text={file.name}")
    dropped = float("nan")
    if n <= 20_000:
        page.wait_for_selector("[data-pane=a] h3 >> text=k-means")
        page.wait_for_selector("[data-pane=a] .size")
        dropped = time.perf_counter() - start
    idle(page)
    page.click("[data-pane=a] .pane-title")
    page.click("[data-preset=kernel_kmeans]")
    page.wait_for_timeout(500)
    idle(page)
    page.wait_for_timeout(3000)  # the sample is found behind the scenes
    ours = processes(server)
    others = processes(os.getpid()) - ours - {os.getpid()}
    before = cpu_s(ours), cpu_s(others)
    shown = max(1, page.evaluate(DRAG, DRAG_S))
    studio, browser = cpu_s(ours) - before[0], cpu_s(others) - before[1]
    # In the page itself: the work may end between a look from outside and a click.
    page.evaluate('() => document.getElementById("work").hidden || document.getElementById("work-stop").click()')
    idle(page)
    return {
        "per second": shown / DRAG_S,
        "studio": 1000 * studio / shown,
        "browser": 1000 * browser / shown,
        "dropped": dropped,
    }


def click_seconds(page, clicks: list[tuple[float, float, str]]) -> list[float]:
    """Seconds from each press of a button (where on the page, and which) to its answer on the screen, by its own clock.

    A driver looks for the answer a few times a second only, which is longer than the answer takes.
    """
    page.evaluate(WATCH)
    for number, (x, y, button) in enumerate(clicks):
        page.mouse.click(x, y, button=button)
        page.wait_for_function("(n) => window.answered.length > n", arg=number)
    return [milliseconds / 1000 for milliseconds in page.evaluate("window.answered")]


def large_photo(page, folder: Path) -> list[float]:
    """Seconds from each click on a photo of 12 megapixels to its answer on the screen."""
    from PIL import Image
    from sklearn.datasets import load_sample_image

    width, height = 4000, 3000
    Image.fromarray(load_sample_image("flower.jpg")).resize((width, height)).save(folder / "large.jpg", quality=92)
    page.click("#tab-photos")
    page.set_input_files("#photo-file", folder / "large.jpg")
    page.wait_for_selector(f"text={width} × {height} pixels")
    page.wait_for_timeout(1000 * LOOK_S)
    box = page.locator(".photo-canvas").bounding_box()
    scale = min((box["width"] - 24) / width, (box["height"] - 24) / height)
    rng = np.random.default_rng(0)
    clicks = []
    for number in range(CLICKS):
        inside = number % 2 == 0
        angle, radius = rng.uniform(0, 2 * np.pi), rng.uniform(100, 500) if inside else rng.uniform(1150, 1250)
        x, y = 1930 + radius * np.cos(angle), 1600 + radius * np.sin(angle)
        clicks.append(
            (
                box["x"] + box["width"] / 2 + (x - width / 2) * scale,
                box["y"] + box["height"] / 2 + (y - height / 2) * scale,
                "left" if inside else "right",
            )
        )
    return click_seconds(page, clicks)


def worst_upload(page, server: int, folder: Path) -> float:
    """The most memory, in MB, that a process takes for a small file that unpacks to as much as is accepted."""
    import pyarrow
    import pyarrow.parquet

    file = folder / "worst.parquet"
    n, width = WORST
    columns = {f"c{i}": pyarrow.array(np.zeros(n)) for i in range(width)}
    pyarrow.parquet.write_table(pyarrow.table(columns), file, compression="zstd")
    page.click("#tab-points")
    page.set_input_files("#points-file", file)
    taken = page.locator(".data-name", has_text="worst.parquet")
    refused = page.locator(".notice.error")
    taken.or_(refused).first.wait_for()
    if refused.count():
        raise SystemExit(f"the largest upload is refused: {refused.first.inner_text()}")
    page.wait_for_timeout(3000)
    idle(page)
    heaviest = 0.0
    for pid in processes(server):
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            heaviest = max(heaviest, *(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM")))
    return heaviest


def live_section(page, server: int, folder: Path) -> str:
    """Measure, and write the section."""
    # First: what photos and clusterings take is not the file's.
    memory = worst_upload(page, server, folder)
    rows = [(n, slider(page, server, points(folder, n), n)) for n in ROWS]
    taken = large_photo(page, folder)
    click = statistics.median(taken)
    table = "\n".join(
        f"| {n:,} | {found['per second']:.1f} | {found['studio']:.0f} ms | {found['browser']:.0f} ms | "
        + ("–" if np.isnan(found["dropped"]) else f"{found['dropped']:.1f} s")
        + " |"
        for n, found in rows
    )
    load = os.getloadavg()[0]
    return f"""## While the user moves

The bandwidth of Gaussian kernel k-means is dragged for {DRAG_S:g} s; a sample is clustered meanwhile, and every row
follows it. Load average {load:.1f} on {os.cpu_count()} cores: where it is above the number of cores the updates are
too few, and the processor time of one, in the studio and in the browser, tells more.

| rows | updates a second | studio, an update | browser, an update | drop to both answers |
|---|---|---|---|---|
{table}

| | goal | measured |
|---|---|---|
| click on 4000 x 3000 pixels {LOOK_S:g} s after opening, median of {CLICKS} | 0.3 s | {click:.2f} s |
| the slowest of those clicks | 0.8 s | {max(taken):.2f} s |
| most memory of a process, {WORST[0] * WORST[1] / 1e6:.0f} million values in a small file | 1000 MB | {memory:.0f} MB |
"""
