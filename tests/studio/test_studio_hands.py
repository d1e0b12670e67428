"""Hands and eyes: forms that keep the focus, keys for everything, phones, pasting, landmarks."""

import numpy as np
from pages import Page, idle, sizes, until


def test_a_choice_keeps_the_focus(opened, studio):
    page = opened.open(studio.address)
    for control, value in (("kernel", "knn"), ("criterion", "average_cut"), ("equalize", "weights")):
        page.locator(f"[data-control={control}]").focus()
        page.select_option(f"[data-control={control}]", value)
        page.wait_for_timeout(400)
        idle(page)
        assert page.evaluate("document.activeElement.dataset.control") == control
    page.locator("[data-preset=kmeans]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-pane=a] h3 >> text=k-means")
    assert page.evaluate("document.activeElement.dataset.preset") == "kmeans"


def test_arrow_keys_go_through_points(opened, studio):
    page = opened.open(studio.address)
    page.locator("[data-pane=a] .plot-over").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".tip >> text=row")
    first = page.locator(".tip strong").inner_text()
    page.keyboard.press("ArrowRight")
    until(page, f"document.querySelector('.tip strong').textContent !== '{first}'")
    assert page.locator(".tip").get_attribute("role") == "status"
    page.keyboard.press("Escape")
    page.wait_for_selector(".tip", state="hidden")


def test_the_palette_runs_commands(opened, studio):
    page = opened.open(studio.address)
    page.keyboard.press("Control+k")
    page.locator(".palette").fill("example rings")
    assert page.locator(".commands li").count() == 1
    page.keyboard.press("Enter")
    page.wait_for_selector(".data-name >> text=rings")


def test_a_menu_closes_by_itself(opened, studio):
    page = opened.open(studio.address)
    summary, body = page.locator("#project summary"), page.locator("#save-project")
    summary.click()
    assert body.is_visible()
    page.click("[data-pane=a] .pane-title")
    assert body.is_hidden()
    summary.press("Enter")
    page.locator("#commands").press("Escape")
    assert body.is_hidden()
    assert summary.evaluate("(part) => part === document.activeElement")
    summary.press("Enter")
    page.click("#commands")
    assert body.is_hidden()
    page.wait_for_selector("dialog")


def test_landmarks_headings_and_results_are_there_for_ears(opened, studio):
    page = opened.open(studio.address)
    for landmark in ("header", "main", "aside", "section[aria-label]"):
        assert page.locator(landmark).count(), landmark
    levels = page.evaluate("() => [...document.querySelectorAll('h1, h2, h3')].map((part) => part.tagName)")
    assert levels.count("H1") == 1
    assert "H2" in levels
    assert page.locator("[data-pane=a] .facts").get_attribute("role") == "status"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"


def test_rows_of_a_spreadsheet_are_pasted(opened, studio):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9])
    text = "u\tv\n" + "\n".join(f"{a}\t{b}" for a, b in X.tolist())
    page = opened.open(studio.address)
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
        }""",
        text,
    )
    page.wait_for_selector(".data-name >> text=pasted.tsv")
    page.wait_for_selector("[data-pane=b] .size")
    idle(page)
    assert sizes(page, "b") == [30, 30]


def test_a_tap_shows_a_row_and_swiping_scrolls(browser, studio):
    page = Page(browser, studio, is_mobile=True, has_touch=True, device_scale_factor=2)
    page.page.set_viewport_size({"width": 390, "height": 844})
    view = page.open(studio.address)
    box = view.locator("[data-pane=a] .plot-over").bounding_box()
    place = view.evaluate(
        """() => {
            const canvas = document.querySelector("[data-pane=a] .plot-points");
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            for (let i = 0; i < canvas.width * canvas.height; i++) {
                const dark = data[4 * i] + data[4 * i + 1] + data[4 * i + 2] < 500;
                const y = Math.floor(i / canvas.width) / canvas.height;
                if (dark && y > 0.2) return [(i % canvas.width) / canvas.width, y];
            }
        }"""
    )
    view.touchscreen.tap(box["x"] + place[0] * box["width"], box["y"] + place[1] * box["height"])
    view.wait_for_selector(".tip >> text=row")
    # The plot lets the page scroll under a finger.
    assert view.locator("[data-pane=a] .plot-over").evaluate("(part) => getComputedStyle(part).touchAction") == "pan-y"
    # What one needs first is in sight: the answer, and the way to one's own file.
    assert view.locator("[data-pane=a] h3").bounding_box()["y"] < 844
    assert view.locator("[data-action=open-file]").bounding_box()["y"] < 844
    page.shot("phone_tap")
    page.context.close()
    assert not page.wrong, page.wrong
