"""The studio in a real browser: what a user does there, from the first look to the exported code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pages import Page, idle, lasso, sizes, wait_for_sizes
from test_studio_api import kill_workers, run_code


def moons_csv(folder):
    from evencut.datasets import make_clumped_moons

    X, y = make_clumped_moons(600, clump=0.5, random_state=0)
    lines = [f"{a!r},{b!r},{'upper' if label == 0 else 'lower'}" for (a, b), label in zip(X.tolist(), y)]
    path = folder / "my moons.csv"
    path.write_text("\n".join(["x,y,moon", *lines, ""]), encoding="utf-8")
    return path, X, y


def test_the_first_look_shows_the_bias_beside_its_cure(opened, studio):
    page = opened.open(studio.address)
    assert "token" not in page.url
    assert page.locator("[data-pane=a] h3").inner_text() == "Kernel k-means"
    assert page.locator("[data-pane=b] h3").inner_text() == "evencut"
    assert sizes(page, "a") == [182, 418]
    assert sizes(page, "b") == [300, 300]
    assert "agreement with the truth 1.00" in page.locator("[data-pane=b] .facts").inner_text()
    # Of the right with the left, which agrees with the truth by as much: the right is the truth.
    assert "with the other side 0.37" in page.locator("[data-pane=a] .facts").inner_text()
    opened.shot("points")


def test_from_a_file_to_a_cure_and_code_that_makes_it_again(opened, studio, tmp_path):
    path, X, _ = moons_csv(tmp_path)
    page = opened.open(studio.address)
    page.set_input_files("#points-file", path)
    page.wait_for_selector(".data-name >> text=my moons")
    idle(page)
    page.wait_for_selector("[data-pane=a] h3 >> text=k-means")
    idle(page)
    page.click("[data-preset=kernel_kmeans]")
    page.wait_for_selector("[data-pane=a] h3 >> text=Kernel k-means")
    idle(page)
    page.click("[data-pane=a] [data-action=diagnose]")
    page.wait_for_selector("[data-pane=a] .verdict.bad")
    assert "mode isolation" in page.locator(".report h3").inner_text()
    page.click("[data-action=cure]")
    page.wait_for_selector("[data-pane=b] .verdict.good")
    wait_for_sizes(page, "b", [300, 300])
    page.click("[data-pane=b] [data-action=export]")
    with page.expect_download() as download:
        page.click("[data-export=python]")
    code = Path(download.value.path()).read_text(encoding="utf-8")
    with page.expect_download() as download:
        page.click("[data-export=csv]")
    labels = np.loadtxt(download.value.path(), skiprows=1, dtype=int)
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<svg"), ("parquet", b"PAR1"), ("html", b"<!doctype")):
        with page.expect_download() as download:
            page.click(f"[data-export={kind}]")
        assert Path(download.value.path()).read_bytes().startswith(start)
    assert np.array_equal(run_code(code, tmp_path), labels)
    assert len(labels) == len(X)


def test_labels_of_a_column_are_shown_and_diagnosed(opened, studio, tmp_path):
    path, _, _ = moons_csv(tmp_path)
    page = opened.open(studio.address)
    page.set_input_files("#points-file", path)
    page.wait_for_selector(".data-name >> text=my moons")
    idle(page)
    page.select_option("[data-control=column]", "moon")
    page.wait_for_selector("[data-pane=a] h3 >> text=moon")
    assert sizes(page, "a") == [300, 300]
    page.click("[data-pane=a] [data-action=diagnose]")
    page.wait_for_selector("[data-pane=a] .verdict.good")


def test_dragging_the_bandwidth_moves_the_clump(opened, studio):
    page = opened.open(studio.address)
    slider = page.locator("#bandwidth-slider")
    seen = set()
    for place in (20, 120, 300):
        slider.evaluate("(box, value) => { box.value = value; box.dispatchEvent(new Event('input')); }", str(place))
        page.wait_for_timeout(700)
        idle(page)
        seen.add(tuple(sizes(page, "a")))
    assert len(seen) == 3
    assert sizes(page, "b") == [300, 300]
    page.click("[data-action=sweep]")
    page.wait_for_selector(".sweep-chart svg")
    assert page.locator(".sweep-chart .stability-dot").count() == 12
    assert "mode isolation" in page.locator(".sweep-chart").inner_text()
    assert page.locator(".sweep-chart .now").get_attribute("visibility") == "visible"
    opened.shot("sweep")


def test_a_lasso_selects_points(opened, studio):
    page = opened.open(studio.address)
    page.get_by_role("button", name="Lasso", exact=True).click()
    lasso(page, "a", 0.02, 0.02, 0.98, 0.98)
    assert page.locator(".selection-bar strong").inner_text() == "600 points"
    page.get_by_text("Let go", exact=True).click()
    assert page.locator(".selection-bar").is_hidden()


def test_a_correction_by_lasso_is_obeyed(opened, studio):
    page = opened.open(studio.address)
    page.get_by_role("button", name="Lasso", exact=True).click()
    # The left end of the upper moon belongs with the clump, which kernel k-means has torn from it.
    lasso(page, "a", 0.0, 0.2, 0.25, 0.7)
    page.click("[data-hold='1']")
    page.wait_for_selector(".held li")
    page.locator("[data-pane=a] .facts", has_text="points held by hand").wait_for()
    idle(page)
    # Cluster 1 stays the one of the clump, and has won the held points.
    texts = page.locator("[data-pane=a] .size").all_inner_texts()
    assert next(int(text.split(":")[1]) for text in texts if text.startswith("1:")) > 182 + 20
    assert sum(sizes(page, "a")) == 600


def test_reload_keeps_the_session_and_a_second_tab_is_another(opened, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "rings")
    page.wait_for_selector(".data-name >> text=rings")
    idle(page)
    page.select_option("[data-control=kernel]", "knn")
    page.wait_for_selector("[data-pane=a] >> text=nearest neighbours")
    idle(page)
    page.wait_for_timeout(600)
    before = sizes(page, "a")
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator(".data-name").first.inner_text() == "rings.csv"
    assert page.locator("[data-control=kernel]").input_value() == "knn"
    assert sizes(page, "a") == before
    second = opened.context.new_page()
    second.goto(studio.base)
    second.wait_for_selector("html[data-ready=yes]")
    assert second.locator(".data-name").first.inner_text() == "moons.csv"
    assert page.evaluate("sessionStorage.length") == 1
    assert page.evaluate("sessionStorage.getItem('evencut-session')") != second.evaluate(
        "sessionStorage.getItem('evencut-session')"
    )


def test_a_link_restores_the_settings(opened, browser, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "blobs")
    page.wait_for_selector(".data-name >> text=blobs")
    idle(page)
    page.select_option("[data-control=criterion]", "average_cut")
    page.wait_for_selector("[data-pane=a] h3 >> text=Average cut")
    idle(page)
    page.wait_for_timeout(1200)
    link = page.url
    other = opened.context.new_page()
    other.goto(link)
    other.wait_for_selector("html[data-ready=yes]")
    assert other.locator(".data-name").first.inner_text() == "blobs.csv"
    assert other.locator("[data-control=criterion]").input_value() == "average_cut"
    assert sizes(other, "a") == sizes(page, "a")


def test_a_long_job_is_stopped_and_a_dead_worker_is_told(opened, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "digits")
    page.wait_for_selector(".data-name >> text=digits")
    idle(page)
    page.click("[data-action=sweep]")
    page.wait_for_selector("#work-text >> text=2 of 12")
    page.click("#work-stop")
    idle(page)
    assert page.locator(".sweep-chart svg").count() == 0
    if not Path("/proc/self/stat").exists():
        return
    page.click("[data-action=sweep]")
    page.wait_for_selector("#work-text >> text=2 of 12")
    kill_workers(studio)
    page.wait_for_selector(".notice.error >> text=ended before its answer")
    page.locator("[data-control=kernel]").select_option("knn")
    page.wait_for_selector("[data-pane=a] >> text=nearest neighbours")


def test_mistakes_are_told_in_words(opened, studio, tmp_path):
    bad = tmp_path / "words.csv"
    bad.write_text("a,b\nx,y\nz,w\nu,v\n", encoding="utf-8")
    page = opened.open(studio.address)
    opened.expected = ["status of 400"]
    page.set_input_files("#points-file", bad)
    page.wait_for_selector(".notice.error >> text=no column of numbers")
    assert sizes(page, "b") == [300, 300]


def test_colours_axes_and_hover(opened, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=colour]", "density")
    page.wait_for_selector("[data-pane=a] .colour-scale >> text=log density")
    page.select_option("[data-control=colour]", "degrees")
    page.wait_for_selector("[data-pane=a] .colour-scale >> text=degrees")
    page.select_option("[data-control=colour]", "probability")
    page.wait_for_selector("[data-pane=b] .colour-scale >> text=probability")
    page.select_option("[data-control=colour]", "cluster")
    page.select_option("[data-control=x]", "pca")
    page.wait_for_timeout(500)
    box = page.locator("[data-pane=a] .plot-over").bounding_box()
    for step in range(40):
        page.mouse.move(box["x"] + box["width"] * (0.2 + step * 0.015), box["y"] + box["height"] * 0.5)
        page.wait_for_timeout(30)
        if page.locator(".tip").is_visible():
            break
    page.wait_for_selector(".tip >> text=row")


def photo_place(page, x, y, width=640, height=427):
    box = page.locator(".photo-canvas").bounding_box()
    scale = min((box["width"] - 24) / width, (box["height"] - 24) / height)
    return (
        box["x"] + box["width"] / 2 + (x - width / 2) * scale,
        box["y"] + box["height"] / 2 + (y - height / 2) * scale,
    )


def test_a_photo_from_box_to_export(opened, studio, tmp_path):
    pytest.importorskip("skimage")
    from PIL import Image

    page = opened.open(studio.address)
    page.click("#tab-photos")
    page.wait_for_selector("text=640 × 427 pixels")
    page.mouse.move(*photo_place(page, 150, 60))
    page.mouse.down()
    page.mouse.move(*photo_place(page, 560, 422), steps=5)
    page.mouse.up()
    page.wait_for_selector(".photos-half .facts >> text=1 gesture")
    page.mouse.click(*photo_place(page, 360, 395), button="right")
    page.wait_for_selector(".photos-half .facts >> text=2 gestures")
    page.mouse.click(*photo_place(page, 300, 240))
    page.wait_for_selector(".photos-half .facts >> text=3 gestures")
    opened.shot("photos")
    page.click("[data-action=undo]")
    page.wait_for_selector(".photos-half .facts >> text=2 gestures")
    page.keyboard.press("Control+Shift+z")
    page.wait_for_selector(".photos-half .facts >> text=3 gestures")
    page.keyboard.press("Control+z")
    page.wait_for_selector(".photos-half .facts >> text=2 gestures")
    page.get_by_role("button", name="Cut-out", exact=True).click()
    opened.shot("cutout")
    page.click("[data-action=photo-export]")
    with page.expect_download() as download:
        page.click("[data-export=mask]")
    mask = np.asarray(Image.open(download.value.path()))
    assert mask[230, 320] == 255
    assert mask[395, 360] == 0
    with page.expect_download() as download:
        page.click("[data-export=cutout]")
    assert np.array_equal(np.asarray(Image.open(download.value.path()))[..., 3], mask)
    with page.expect_download() as download:
        page.click("[data-export=python]")
    (tmp_path / "again.py").write_text(Path(download.value.path()).read_text(encoding="utf-8"), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    subprocess.run([sys.executable, "again.py"], cwd=tmp_path, env=env, check=True, capture_output=True)
    assert np.array_equal(np.asarray(Image.open(tmp_path / "mask.png")), mask)
    page.keyboard.press("Escape")
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert "2 gestures" in page.locator(".photos-half .facts").first.inner_text()


def test_dark_colours_are_kept(opened, studio):
    page = opened.open(studio.address)
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.click("#theme")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) < 120
    page.wait_for_timeout(400)
    opened.shot("dark")
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_phone_needs_no_sideways_scrolling(browser, studio):
    page = Page(browser, studio, is_mobile=True, has_touch=True, device_scale_factor=2)
    page.page.set_viewport_size({"width": 390, "height": 844})
    view = page.open(studio.address)
    for tab in ("points", "photos"):
        view.click(f"#tab-{tab}")
        view.wait_for_timeout(600)
        assert view.evaluate("document.documentElement.scrollWidth") <= 390
        page.shot(f"phone_{tab}", full_page=True)
    view.click("#tab-points")
    plot = view.locator("[data-pane=a] .plot-over").bounding_box()
    assert plot["width"] > 330
    page.context.close()
    assert not page.wrong, page.wrong


def test_every_control_has_a_name_and_the_keyboard_reaches_it(opened, studio):
    page = opened.open(studio.address)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, a, canvas[tabindex]")]
            .filter((part) => part.offsetParent !== null)
            .filter((part) => !(part.textContent.trim() || part.getAttribute("aria-label") || part.title
                || (part.labels && part.labels.length)))
            .map((part) => part.outerHTML.slice(0, 120))"""
    )
    assert not unnamed
    reached = set()
    page.locator("body").click(position={"x": 2, "y": 2})
    for _ in range(90):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.control || document.activeElement.className"))
    assert {"kernel", "n_clusters", "criterion", "colour", "plot-over"} <= reached


def test_help_explains_every_field(opened, studio):
    page = opened.open(studio.address)
    topics = page.evaluate("() => [...document.querySelectorAll('.help a')].map((a) => a.getAttribute('href'))")
    page.goto(f"{studio.base}/static/help.html")
    known = page.evaluate("() => [...document.querySelectorAll('[id]')].map((part) => part.id)")
    assert topics
    assert {topic.rpartition("#")[2] for topic in topics} <= set(known)
