"""Points painted by graphics hardware: the same picture as in memory, and nothing lost where the hardware goes away.

The hardware here is software, too, which the page uses only where its setting asks for it.
"""

import base64

import numpy as np
import pytest
from pages import Page, idle, lasso

SETTING = "localStorage.setItem('evencut-renderer', 'webgl')"

# The pixels of a canvas, as text: lists of numbers take seconds.
READ = """(canvas) => {
  const paper = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
  paper.drawImage(canvas, 0, 0);
  const { data } = paper.getImageData(0, 0, canvas.width, canvas.height);
  let text = "";
  for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
  return [canvas.width, btoa(text)];
}"""

# One scene painted in memory and by WebGL: the pixels of both.
BOTH = """async ({ n, radius, dense, clip, selected, ground, ink, zoom }) => {
  const { Raster } = await import('/static/js/raster.js');
  const { openWebGL } = await import('/static/js/webgl.js');
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const xy = Float32Array.from({ length: 2 * n }, () => (random() + random() - 1) * 1.2);
  xy[10] = NaN;
  const index = Int16Array.from({ length: n }, () => Math.floor(random() * 4) - 1);
  const table = Uint32Array.of(0xffbdb4aa, 0xffb27200, 0xff005ed5, 0xff739e00);
  const other = Uint32Array.of(0xff101010, 0xff2030ff, 0xff30ff20, 0xffff3020);
  const [width, height] = [240, 180];
  const first = { colours: { index, table } };
  const cut = { clip: [80, width], colours: { index, table: other } };
  const parts = clip ? [{ ...first, clip: [0, 80] }, cut] : [first];
  const mask = Uint8Array.from({ length: n }, (_, i) => Number(i % 7 === 0));
  const map = { sx: 100 * zoom, sy: -100 * zoom, tx: 120.3, ty: 90.6 };
  const chosen = selected ? { mask, radius: radius + 1.6 } : null;
  const scene = { width, height, ground, ink, xy, turns: 0, parts, map, radius, dense, selected: chosen };
  const painted = (open) => {
    const canvas = document.createElement('canvas');
    const painter = open(canvas);
    painter.paint(scene);
    // Painted twice, the second time from what the hardware keeps.
    painter.paint(scene);
    return (READ)(canvas);
  };
  return [painted((canvas) => new Raster(canvas)), painted((canvas) => openWebGL(canvas, n, () => {}))];
}""".replace("READ", READ)

LIGHT = {"ground": "#ffffff", "ink": "#10181f"}
DARK = {"ground": "#141b22", "ink": "#f2f6fa"}
SCENES = {
    "discs": {"n": 300, "radius": 3.4},
    "large discs, zoomed": {"n": 300, "radius": 7.3, "zoom": 3},
    "discs in the dark, some selected": {"n": 300, "radius": 2.4, "selected": True, **DARK},
    "squares": {"n": 3000, "radius": 0.9},
    "squares, some selected": {"n": 3000, "radius": 1.6, "selected": True},
    "discs under a swipe": {"n": 300, "radius": 3.4, "clip": True},
    "density": {"n": 60000, "radius": 0.9, "dense": True},
    "density in the dark, under a swipe, some selected": {
        **{"n": 20000, "radius": 0.9, "dense": True, "clip": True, "selected": True},
        **DARK,
    },
}


@pytest.fixture
def drawn(browser, studio):
    """A page that paints by WebGL."""
    page = Page(browser, studio)
    page.context.add_init_script(SETTING)
    yield page
    page.context.close()
    assert not page.wrong, page.wrong


def picture(width, text):
    """Colours of pixels from their bytes."""
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, width, 4)[..., :3].astype(int)


@pytest.mark.parametrize("scene", SCENES)
def test_hardware_paints_what_memory_paints(drawn, studio, scene):
    page = drawn.page
    page.goto(f"{studio.base}/static/help.html")
    asked = {"dense": False, "clip": False, "selected": False, "zoom": 1, **LIGHT, **SCENES[scene]}
    memory, hardware = (picture(*found)[8:-8, 8:-8] for found in page.evaluate(BOTH, asked))
    assert len(np.unique(memory.reshape(-1, 3), axis=0)) > 3
    assert np.mean(np.abs(memory - hardware).max(axis=2) > 3) < 0.003


def pixels(page):
    """The left plot's picture."""
    return picture(*page.locator("[data-pane=a] .plot-points").evaluate(READ))


def test_a_lost_context_loses_nothing(drawn, studio):
    page = drawn.open(studio.address)
    idle(page)
    assert page.locator("[data-renderer=webgl]").count() == 2
    page.locator("[data-pane=a] .plot-over").focus()
    for key in ("ArrowLeft", "+", "+"):
        page.keyboard.press(key)
    page.wait_for_timeout(500)
    moved = pixels(page)
    drawn.shot("webgl-light")
    page.evaluate(
        """() => document.querySelector("[data-pane=a] .plot-points").getContext("webgl2")
            .getExtension("WEBGL_lose_context").loseContext()"""
    )
    page.wait_for_selector("[data-pane=a] .plot-points:not([data-renderer])")
    page.wait_for_timeout(500)
    assert page.locator("[data-renderer=webgl]").count() == 1
    difference = np.abs(pixels(page) - moved)
    assert difference.mean() < 0.3
    assert len(np.unique(moved.reshape(-1, 3), axis=0)) > 3
    page.select_option("[data-control=example]", "stragglers")
    page.wait_for_selector(".data-name >> text=stragglers")
    idle(page)
    assert page.locator("[data-pane=a] .plot-points").count() == 1


def test_hands_work_on_hardware_and_a_view_sends_no_points_again(drawn, studio):
    page = drawn.open(studio.address)
    idle(page)
    box = page.locator("[data-pane=a] .plot-over").bounding_box()
    page.evaluate(
        """() => {
            window.sent = 0;
            const send = WebGL2RenderingContext.prototype.bufferData;
            WebGL2RenderingContext.prototype.bufferData = function (...all) {
              window.sent += 1;
              send.apply(this, all);
            };
        }"""
    )
    before = pixels(page)
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 140, box["y"] + 120, steps=4)
    page.mouse.up()
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(500)
    assert page.evaluate("window.sent") == 0
    assert np.abs(pixels(page) - before).mean() > 0.5
    page.get_by_role("button", name="Show all").click()
    page.get_by_role("button", name="Lasso", exact=True).click()
    lasso(page, "a", 0.02, 0.02, 0.98, 0.98)
    assert page.locator(".selection-bar strong").inner_text() == "600 points"
    page.wait_for_timeout(300)
    assert np.all(pixels(page) < 60, axis=2).sum() > 600  # rims of ink
    drawn.shot("webgl-selected")


def test_a_driver_that_cannot_keep_its_promises_is_not_used(drawn, studio):
    drawn.context.add_init_script(
        """const ask = WebGL2RenderingContext.prototype.getProgramParameter;
        WebGL2RenderingContext.prototype.getProgramParameter = function (program, what) {
          return what === this.LINK_STATUS ? false : ask.call(this, program, what);
        };"""
    )
    page = drawn.open(studio.address)
    assert page.locator("[data-renderer=webgl]").count() == 0
    assert len(np.unique(pixels(page).reshape(-1, 3), axis=0)) > 3


def test_software_that_stands_for_hardware_is_not_used_unasked(opened, studio, tmp_path, rng):
    np.save(tmp_path / "many.npy", rng.normal(size=(30_000, 2)).astype(np.float32))
    page = opened.open(studio.address)
    page.set_input_files("#points-file", tmp_path / "many.npy")
    page.wait_for_selector("text=30,000 rows")
    page.wait_for_timeout(500)
    assert page.locator("[data-renderer=webgl]").count() == 0
    assert len(np.unique(pixels(page).reshape(-1, 3), axis=0)) > 1
