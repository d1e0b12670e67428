"""Photos in the browser: objects, each from a box or a click; no gesture destroys; exports that other tools read."""

import io
import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from pages import Page, until
from test_studio_browser import photo_place

pytest.importorskip("skimage")
Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def photo(opened, studio):
    page = opened.open(studio.address)
    page.click("#tab-photos")
    page.wait_for_selector("text=640 × 427 pixels")
    return page


def drag(page, start, end):
    page.mouse.move(*photo_place(page, *start))
    page.mouse.down()
    page.mouse.move(*photo_place(page, *end), steps=5)
    page.mouse.up()


def gestures(page, n):
    page.wait_for_selector(f".photos-half .facts >> text={n} gesture{'' if n == 1 else 's'}")


def objects(page):
    return page.locator(".object-list input").evaluate_all("(all) => all.map((one) => one.value)")


def test_each_box_is_an_object_and_undo_reaches_everything(photo, opened):
    drag(photo, (150, 60), (560, 422))
    gestures(photo, 1)
    drag(photo, (20, 20), (140, 200))
    gestures(photo, 2)
    assert objects(photo) == ["object 1", "object 2"]
    photo.locator(".object-list input").first.fill("flower")
    photo.locator(".object-list input").first.press("Enter")
    photo.wait_for_timeout(600)
    opened.shot("objects")
    photo.click("[data-action=restart]")
    photo.wait_for_selector(".object-list", state="detached")
    photo.wait_for_timeout(600)
    photo.click("#undo")
    gestures(photo, 2)
    assert objects(photo) == ["flower", "object 2"]
    photo.locator("[aria-label='Remove flower']").click()
    until(photo, "document.querySelectorAll('.object-list li').length === 1")
    photo.wait_for_timeout(600)
    photo.click("#undo")
    until(photo, "document.querySelectorAll('.object-list li').length === 2")
    photo.click("[data-action=photo-export]")
    with photo.expect_download() as download:
        photo.click("[data-export=zip]")
    with zipfile.ZipFile(download.value.path()) as archive:
        names = sorted(archive.namelist())
        flower = np.asarray(Image.open(io.BytesIO(archive.read("masks/flower.png"))))
    assert names == ["cutouts/flower.png", "cutouts/object_2.png", "masks/flower.png", "masks/object_2.png"]
    with photo.expect_download() as download:
        photo.click("[data-export=coco]")
    coco = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    first = coco["annotations"][0]
    assert [one["name"] for one in coco["categories"]] == ["flower", "object_2"]
    # Runs down the columns, zeros first: the mask comes out again.
    runs = first["segmentation"]["counts"]
    flat = np.repeat(np.arange(len(runs)) % 2, runs)
    assert np.array_equal(flat.reshape(640, 427).T == 1, flower == 255)
    assert first["area"] == (flower == 255).sum()
    with photo.expect_download() as download:
        photo.click("[data-export=map]")
    map_ = Image.open(download.value.path())
    assert map_.mode == "P"
    assert set(np.unique(np.asarray(map_))) <= {1, 2, 3}
    assert len({tuple(map_.getpalette()[3 * label : 3 * label + 3]) for label in (1, 2, 3)}) == 3


def test_a_box_is_moved_by_its_corner(photo):
    drag(photo, (150, 60), (400, 300))
    gestures(photo, 1)
    drag(photo, (400, 300), (560, 422))
    photo.wait_for_timeout(300)
    photo.wait_for_selector("#work", state="hidden")
    assert objects(photo) == ["object 1"]
    gestures(photo, 1)


def test_a_click_is_shown_before_it_is_made(photo):
    asked = []
    photo.on("response", lambda reply: asked.append(reply.status) if reply.url.endswith("/photo/hover") else None)
    photo.mouse.move(*photo_place(photo, 300, 200))
    photo.mouse.move(*photo_place(photo, 302, 202))
    for _ in range(100):
        if asked:
            break
        photo.wait_for_timeout(100)
    assert asked == [200]


def test_keys_click_and_draw_a_box(photo):
    photo.locator(".photo-canvas").focus()
    for key in ("Enter", "ArrowLeft", "ArrowUp", "Enter"):
        photo.keyboard.press(key)
    gestures(photo, 1)
    photo.locator(".photo-canvas").focus()
    photo.keyboard.press("b")
    for _ in range(8):
        photo.keyboard.press("ArrowRight")
        photo.keyboard.press("ArrowDown")
    photo.keyboard.press("b")
    gestures(photo, 2)
    assert len(objects(photo)) == 2


def test_a_pinch_zooms_and_draws_nothing(browser, studio):
    page = Page(browser, studio, has_touch=True, is_mobile=True)
    view = page.open(studio.address)
    view.click("#tab-photos")
    view.wait_for_selector("text=640 × 427 pixels")
    asked = []
    view.on("request", lambda request: asked.append(request.url))
    touch = page.context.new_cdp_session(view)
    (x, y) = photo_place(view, 320, 210)

    def send(kind, *points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": px, "y": py} for px, py in points]})

    send("touchStart", (x - 30, y))
    send("touchMove", (x - 35, y))
    send("touchStart", (x - 35, y), (x + 35, y))
    for step in range(1, 8):
        send("touchMove", (x - 35 - 12 * step, y), (x + 35 + 12 * step, y))
    send("touchEnd")
    view.wait_for_timeout(500)
    assert not [url for url in asked if url.endswith("/photo/prompts")]
    assert "Drag a box" in view.locator(".photos-half .facts").first.inner_text()
    page.context.close()
    assert not page.wrong, page.wrong


def test_photos_are_turned_over_and_keep_what_was_drawn(photo, tmp_path):
    rng = np.random.default_rng(0)
    for name in ("one.png", "two.png"):
        pixels = rng.integers(0, 60, size=(90, 120, 3), dtype=np.uint8)
        pixels[20:70, 30:90] += 150
        Image.fromarray(pixels).save(tmp_path / name)
    photo.set_input_files("#photo-file", [tmp_path / "one.png", tmp_path / "two.png"])
    photo.wait_for_selector(".data-name >> text=one.png")
    photo.wait_for_selector(".photos-half .button-row >> text=1 of 2")
    photo.mouse.click(*photo_place(photo, 60, 45, 120, 90))
    gestures(photo, 1)
    photo.wait_for_timeout(600)
    photo.click("[data-action=next]")
    photo.wait_for_selector(".data-name >> text=two.png")
    photo.wait_for_timeout(600)
    photo.click("[data-action=previous]")
    photo.wait_for_selector(".data-name >> text=one.png")
    gestures(photo, 1)
    photo.wait_for_timeout(600)
    photo.reload()
    photo.wait_for_selector(".photos-half .button-row >> text=1 of 2")
    photo.click("[data-action=next]")
    photo.wait_for_selector(".data-name >> text=two.png")
    photo.wait_for_selector(".photos-half .button-row >> text=2 of 2")
    photo.wait_for_timeout(600)
    photo.keyboard.press("Control+z")
    photo.wait_for_selector(".photos-half .button-row >> text=1 of 2")


@pytest.mark.parametrize(
    ("start", "called"),
    [(b"GIF89a", "GIF"), (b"BM", "BMP"), (b"\x00\x00\x00\x18ftypheic", "HEIC"), (b"hello", "no photo")],
)
def test_other_pictures_are_called_what_they_are(tab, start, called):
    answer = tab.upload("/photo/upload", start + b"\x00" * 50, "picture.gif")
    assert answer.status_code == 415
    assert called in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["a page of a stack", "with an alpha channel"])
def test_code_reads_the_same_pixels(kind, tab, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    pages = [np.clip(rng.normal(90, 5, (80, 90)), 0, 255) for _ in range(2)]
    pages[1][20:60, 30:70] += 120
    file = io.BytesIO()
    if kind == "a page of a stack":
        first, second = (Image.fromarray((200 * page).astype(np.uint16)) for page in pages)
        first.save(file, "TIFF", save_all=True, append_images=[second])
        name, page = "photo.tif", 1
    else:
        gray = pages[1].clip(0, 255).astype(np.uint8)
        Image.fromarray(np.dstack([gray, gray // 2, gray, 255 - gray])).save(file, "PNG")
        name, page = "photo.png", 0
    answer = tab.client.post(f"{tab.base}/photo/upload", params={"name": name, "page": page}, content=file.getvalue())
    assert answer.status_code == 201, answer.text
    event = tab.job("/photo/prompts", {"kind": "box", "points": [[22, 12], [78, 68]]})
    assert event["kind"] == "done", event
    mask = np.frombuffer(tab.get("/photo/labels").content, np.uint8).reshape(80, 90) == 2
    assert mask[40, 50] and not mask[5, 5]
    (tmp_path / name).write_bytes(file.getvalue())
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the alpha channel is ignored
        exec(compile(tab.get("/photo/recipe").json()["python"], "exported", "exec"), {})
    assert np.array_equal(np.asarray(Image.open(tmp_path / "mask.png")) > 0, mask)


def test_sixteen_bits_are_as_bright_as_they_say(tab):
    dark = np.full((20, 30), 6554, dtype=np.uint16)
    dark[5:10] = 13107
    file = io.BytesIO()
    Image.fromarray(dark).save(file, format="PNG")
    assert tab.upload("/photo/upload", file.getvalue(), "dark.png").status_code == 201
    shown = np.asarray(Image.open(io.BytesIO(tab.get("/photo/image").content)))
    assert shown.max() == 51
    assert shown.min() in (25, 26)


def test_an_answer_on_a_large_photo_is_painted_as_finely_as_the_screen_shows_it(photo, tmp_path):
    """Four megapixels: in fewer pixels while all of it is in sight, in all of them where the user looks closely."""
    rng = np.random.default_rng(0)
    pixels = np.full((1800, 2400, 3), 60, np.uint8)
    rows, columns = np.ogrid[:1800, :2400]
    pixels[(columns - 1200) ** 2 + (rows - 900) ** 2 < 400**2] = (220, 120, 40)
    pixels += rng.integers(0, 12, (1800, 2400, 1), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "large.jpg")
    photo.set_input_files("#photo-file", tmp_path / "large.jpg")
    photo.wait_for_selector("text=2400 × 1800 pixels", timeout=60_000)
    photo.mouse.click(*photo_place(photo, 1200, 900, 2400, 1800))
    photo.wait_for_selector(".photos-half .facts >> text=1 gesture", timeout=90_000)
    photo.wait_for_selector(".photo-canvas[data-detail='2']")
    photo.locator(".photo-canvas").focus()
    for _ in range(12):
        photo.keyboard.press("+")
    photo.wait_for_selector(".photo-canvas[data-detail='1']")
    share = float(photo.locator(".photos-half .facts").first.inner_text().partition("object ")[2].partition("%")[0])
    assert abs(share - 100 * np.pi * 400**2 / pixels[..., 0].size) < 0.5
