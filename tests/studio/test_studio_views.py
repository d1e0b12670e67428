"""What is seen: live answers at any size, plots first, and two clusterings that are really compared."""

import io
from pathlib import Path

import numpy as np
from pages import idle, lasso, sizes, until
from sklearn.metrics import adjusted_rand_score
from test_studio_api import PLAIN

from benchmarks.studio_live import DRAG
from evencut.datasets import make_clumped_moons


def test_dragging_shows_a_sample_and_letting_go_all_points(opened, studio, tmp_path):
    X, _ = make_clumped_moons(6000, clump=0.5, random_state=0)
    np.save(tmp_path / "many.npy", X)
    page = opened.open(studio.address)
    page.set_input_files("#points-file", tmp_path / "many.npy")
    page.wait_for_selector("text=6,000 rows")
    page.wait_for_selector("[data-pane=a] .size")
    idle(page)
    page.click("[data-preset=kernel_kmeans]")
    page.wait_for_selector("[data-pane=a] h3 >> text=Kernel k-means")
    idle(page)
    assert page.evaluate(DRAG, 6) >= 3
    page.wait_for_selector("[data-pane=a] .facts >> text=fitted on a sample of 3,000")
    assert sum(sizes(page, "a")) == 6000


def test_a_preview_is_the_clustering_of_a_sample(tab):
    tab.example("stragglers")
    follows = np.frombuffer(tab.get("/points/sample").content, "<i2")
    answer = tab.post("/preview", {"method": {**PLAIN, "parameters": {"bandwidth": 0.2}}})
    labels = np.frombuffer(answer.content, "<i4")
    assert len(follows) == 600
    assert follows.max() < len(labels) < 600
    assert set(labels) == {0, 1}
    assert not tab.get("").json()["runs"]
    assert tab.post("/preview", {"method": {"n_clusters": 0}}).status_code == 422


def test_a_preview_of_few_points_is_as_good_as_their_clustering(tab):
    """Of up to 500 rows the sample is all: the quick solver finds what the fit finds when the slider is let go."""
    file = io.BytesIO()
    np.save(file, make_clumped_moons(300, clump=0.5, random_state=0)[0])
    tab.upload("/points/upload", file.getvalue(), "few.npy")
    assert np.array_equal(np.frombuffer(tab.get("/points/sample").content, "<i2"), np.arange(300))
    for bandwidth in (0.1, 0.3, 0.6):
        method = {**PLAIN, "parameters": {"bandwidth": bandwidth}}
        quick = np.frombuffer(tab.post("/preview", {"method": method}).content, "<i4")
        whole = np.frombuffer(tab.get(f"/runs/{tab.fit(**method)['id']}/labels").content, "<i4")
        assert adjusted_rand_score(whole, quick) > 0.9


def test_quick_questions_do_not_wait_for_slow_ones(studio, tab):
    others = [studio.tab() for _ in range(4)]
    for one in others:
        one.example("digits")
    jobs = [one.post("/sweep", {"n_clusters": 10}).json()["id"] for one in others]
    tab.example("moons")
    for _ in range(3):
        assert tab.get("/points/plane").status_code == 200
        assert tab.post("/preview", {"method": PLAIN}).status_code == 200
    assert all(one.get("").json()["job"]["running"] for one in others)
    for one, job in zip(others, jobs):
        one.client.delete(f"{one.base}/jobs/{job}")
        one.client.delete(one.base)
        one.client.close()


def plots(page):
    return [page.locator(f"[data-pane={pane}] .plot").bounding_box() for pane in "ab"]


def share(page):
    size = page.viewport_size
    return sum(box["width"] * box["height"] for box in plots(page) if box) / (size["width"] * size["height"])


def test_plots_come_first_and_are_equal(opened, studio):
    page = opened.open(studio.address)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_timeout(300)
    left, right = plots(page)
    assert (left["width"], left["height"], left["y"]) == (right["width"], right["height"], right["y"])
    assert share(page) > 0.4
    usual = share(page)
    page.click("[data-action=fold]")
    page.wait_for_timeout(300)
    assert share(page) > usual + 0.08
    page.click("[data-action=fold]")
    page.locator("[data-pane=a] .plot-over").focus()
    page.keyboard.press("f")
    page.wait_for_timeout(600)
    assert share(page) > 0.8
    page.keyboard.press("f")
    page.wait_for_timeout(600)
    # A long legend on one side takes from both plots alike.
    page.select_option("[data-control=example]", "digits")
    page.wait_for_selector(".data-name >> text=digits")
    idle(page)
    page.locator("[data-control=n_clusters]").fill("40")
    page.locator("[data-control=n_clusters]").press("Enter")
    page.wait_for_selector("[data-pane=a] >> text=k = 40")
    idle(page)
    left, right = plots(page)
    assert (left["height"], left["y"]) == (right["height"], right["y"])
    assert page.locator("[data-pane=a] .size").count() == 40


def swatches(page, pane):
    """The colours of the size chips."""
    chips = page.locator(f"[data-pane={pane}] .size i")
    return chips.evaluate_all("(all) => all.map((part) => part.style.background).sort()")


def test_colours_are_matched_and_differences_are_found(opened, studio):
    page = opened.open(studio.address)
    assert sizes(page, "a") == [182, 418]
    assert len(set(swatches(page, "a"))) == 2
    assert swatches(page, "a") == swatches(page, "b")
    page.get_by_role("button", name="Compare", exact=True).click()
    cells = page.locator(".confusion tbody td").all_inner_texts()
    counts = [int(cell) if cell.isdigit() else 0 for cell in cells]
    assert sum(counts) == 600
    matched = page.locator(".confusion td.matched").all_inner_texts()
    differ = 600 - sum(map(int, matched))
    page.click("[data-action=differences]")
    assert page.locator(".selection-bar strong").inner_text() == f"{differ} points"
    opened.shot("compare")


def pixel(page, pane, x, y):
    """The colour of the points' canvas at a share of its size."""
    return page.evaluate(
        """([pane, x, y]) => {
            const canvas = document.querySelector(`[data-pane=${pane}] .plot-points`);
            const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            const seen = new Map();
            for (let i = 0; i < canvas.width * canvas.height; i++) {
                const place = (i % canvas.width) / canvas.width;
                if (place < x || place >= y) continue;
                const key = [data[4 * i], data[4 * i + 1], data[4 * i + 2]].join();
                seen.set(key, (seen.get(key) ?? 0) + 1);
            }
            return Object.fromEntries(seen);
        }""",
        [pane, x, y],
    )


def test_the_swipe_shows_left_and_right_of_a_line(opened, studio):
    page = opened.open(studio.address)
    page.get_by_role("button", name="Swipe", exact=True).click()
    page.wait_for_timeout(400)
    assert page.locator("[data-pane=b]").is_hidden()
    page.locator(".swipe-bar").evaluate("(bar) => { bar.value = 0; bar.dispatchEvent(new Event('input')); }")
    page.wait_for_timeout(400)
    right = pixel(page, "a", 0, 1)
    page.locator(".swipe-bar").evaluate("(bar) => { bar.value = 1000; bar.dispatchEvent(new Event('input')); }")
    page.wait_for_timeout(400)
    left = pixel(page, "a", 0, 1)
    assert right != left
    opened.shot("swipe")


def test_ones_own_file_begins_with_auto_beside_kmeans(opened, studio, tmp_path):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 2)) * 0.4 + centre for centre in ([0, 0], [5, 0], [0, 5], [5, 5])])
    np.savetxt(tmp_path / "mine.csv", X, delimiter=",", header="u,v", comments="")
    page = opened.open(studio.address)
    page.set_input_files("#points-file", tmp_path / "mine.csv")
    page.wait_for_selector(".data-name >> text=mine.csv")
    page.wait_for_selector("[data-pane=a] h3 >> text=k-means")
    idle(page)
    assert page.locator("[data-pane=b] h3").inner_text() == "evencut"
    assert "k = 4, found" in page.locator("[data-pane=b] .pane-title").inner_text()
    assert sizes(page, "b") == [150] * 4
    assert "k = 4" in page.locator("[data-pane=a] .pane-title").inner_text()
    # The slider of the bandwidth is there for methods that have one.
    assert page.locator(".sweep-bar").is_hidden()
    page.click("[data-pane=a] .pane-title")
    page.click("[data-preset=kernel_kmeans]")
    page.wait_for_selector(".sweep-bar", state="visible")


def test_space_density_and_lines(opened, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "digits")
    page.wait_for_selector(".data-name >> text=digits")
    idle(page)
    page.select_option("[data-control=x]", "space")
    page.wait_for_timeout(800)
    before = pixel(page, "a", 0, 1)
    page.locator("[data-pane=a] .plot-over").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(600)
    turned = pixel(page, "a", 0, 1)
    assert turned != before
    page.select_option("[data-control=shading]", "density")
    page.wait_for_timeout(600)
    assert pixel(page, "a", 0, 1) != turned
    page.select_option("[data-control=shading]", "points+lines")
    page.wait_for_timeout(600)
    opened.shot("space")


def test_a_stale_diagnosis_is_marked_and_renewed(opened, studio):
    page = opened.open(studio.address)
    page.click("[data-pane=a] [data-action=diagnose]")
    page.wait_for_selector("[data-pane=a] .verdict.bad")
    page.click("[data-preset=normalized_cut]")
    page.wait_for_selector(".stale >> text=earlier clustering")
    idle(page)
    page.click("[data-action=renew]")
    page.wait_for_selector(".stale", state="detached")
    page.wait_for_selector("[data-pane=a] .verdict")


def test_clusters_are_described_sorted_merged_and_split(opened, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "blobs")
    page.wait_for_selector(".data-name >> text=blobs")
    idle(page)
    page.click("[data-pane=b] .pane-title")
    page.get_by_role("button", name="Clusters", exact=True).click()
    page.wait_for_selector(".cluster-table .told >> text=(others")
    # Names set clusters apart as numbers do, and a typical row is a click away.
    assert all("true is" in told for told in page.locator(".cluster-table .told").all_inner_texts())
    page.locator(".cluster-table [data-typical]").first.click()
    page.wait_for_selector(".selection-bar >> text=1 point")
    counts = [int(text) for text in page.locator(".cluster-table tbody td:nth-child(3)").all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    page.click("[data-sort=points]")
    again = [int(text) for text in page.locator(".cluster-table tbody td:nth-child(3)").all_inner_texts()]
    assert again == counts[::-1]
    opened.shot("clusters")
    boxes = page.locator(".cluster-table input[type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.click("[data-action=merge]")
    until(page, "document.querySelectorAll('[data-pane=b] .size').length === 2")
    assert sizes(page, "b") == sorted([again[0] + again[1], again[2]])
    page.wait_for_timeout(300)
    page.locator(".cluster-table input[type=checkbox]").nth(0).check()
    page.click("[data-action=split]")
    until(page, "document.querySelectorAll('[data-pane=b] .size').length === 3")
    assert sum(sizes(page, "b")) == 840


def test_names_outlive_merging_splitting_and_undo(opened, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "digits")
    page.wait_for_selector(".data-name >> text=digits")
    idle(page)
    page.get_by_role("button", name="Clusters", exact=True).last.click()
    page.wait_for_selector(".cluster-table [data-name]")
    labels = page.locator(".cluster-table [data-name]").evaluate_all("all => all.map((one) => one.dataset.name)")
    for label, name in ((labels[4], "north"), (labels[7], "south")):
        page.locator(f".cluster-table [data-name='{label}']").fill(name)
        page.locator(f".cluster-table [data-name='{label}']").press("Enter")
    for name in labels[:2]:
        page.get_by_label(f"Choose cluster {name}", exact=True).check()
    page.click("[data-action=merge]")
    page.wait_for_selector("#undo[title*='merge 2 clusters']")
    texts = page.locator("[data-pane=a] .size").all_inner_texts()
    assert len(texts) == 9
    assert {"north", "south"} < {text.split(":")[0] for text in texts}
    page.get_by_label("Choose cluster north", exact=True).check()
    page.get_by_label("Choose cluster south", exact=True).check()
    page.click("[data-action=merge]")
    page.wait_for_selector("[data-pane=a] .size >> text=north + south")
    page.wait_for_selector("html[data-told=yes]")
    # The table of clusters is open: what it asks about is never a clustering that was taken back.
    for n_clusters in (9, 10):
        page.keyboard.press("Control+z")
        until(page, f"document.querySelectorAll('[data-pane=a] .size').length === {n_clusters}")
        page.wait_for_timeout(300)
    assert {"north", "south"} < {text.split(":")[0] for text in page.locator("[data-pane=a] .size").all_inner_texts()}
    # However quickly they came, each was an action of its own.
    for action in ("name a cluster south", "name a cluster north", "open digits.csv"):
        page.wait_for_selector(f"#undo[title*='{action}']")
        page.keyboard.press("Control+z")
    assert not page.locator(".notice.error").count()


def test_what_is_said_of_selected_points_is_about_the_active_side(opened, studio):
    page = opened.open(studio.address)
    page.get_by_role("button", name="Lasso", exact=True).click()
    lasso(page, "a", 0.02, 0.02, 0.98, 0.98)
    assert "in the left clustering" in page.locator(".selection-bar").inner_text()
    page.click("[data-pane=b] .pane-title")
    assert "in the right clustering" in page.locator(".selection-bar").inner_text()


def test_reports_say_what_each_cluster_is(opened, studio):
    page = opened.open(studio.address)
    page.click("[data-pane=b] [data-action=diagnose]")
    page.wait_for_selector("[data-pane=b] .verdict")
    page.click("[data-pane=b] [data-action=export]")
    with page.expect_download() as download:
        page.click("[data-export=html]")
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert "What each cluster is" in report and "(others" in report and "typical rows" in report


def test_rows_are_searched_listed_and_exported(opened, studio, tmp_path):
    page = opened.open(studio.address)
    page.get_by_role("button", name="Selected", exact=True).click()
    page.select_option("[data-control=search-column]", "x")
    page.locator("[data-control=search]").fill("> 1.5")
    page.locator("[data-control=search]").press("Enter")
    X, _ = make_clumped_moons(600, clump=0.5, random_state=0)
    expected = int((X[:, 0] > 1.5).sum())
    page.wait_for_selector(f".selection-bar >> text={expected} points")
    page.wait_for_selector(".selected tbody tr")
    assert page.locator(".selected tbody tr").count() == min(60, expected)
    page.click("[data-pane=b] [data-action=export]")
    with page.expect_download() as download:
        page.click("[data-export=rows]")
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "x,y,true,cluster,cluster name"
    assert len(lines) == 601


def test_a_click_on_a_point_selects_it_with_its_neighbours(opened, studio):
    page = opened.open(studio.address)
    box = page.locator("[data-pane=a] .plot-over").bounding_box()
    for step in range(60):
        place = box["x"] + box["width"] * (0.2 + step * 0.01), box["y"] + box["height"] * 0.5
        page.mouse.move(*place)
        page.wait_for_timeout(60)
        if page.locator(".tip").is_visible():
            break
    page.mouse.click(*place)
    page.wait_for_selector(".selection-bar >> text=9 points")


def test_an_embedding_keeps_what_is_near_together(tab):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 5)), rng.normal(size=(40, 5)) + 12])
    file = io.BytesIO()
    np.save(file, X)
    tab.upload("/points/upload", file.getvalue(), "p.npy")
    answer = tab.get("/points/plane", params={"embedding": "tsne"})
    places = np.frombuffer(answer.content, "<f4").reshape(-1, 2)
    first, second = places[:40], places[40:]
    gap = np.linalg.norm(first.mean(axis=0) - second.mean(axis=0))
    assert gap > 1.5 * max(first.std(), second.std())
    assert tab.get("/points/plane", params={"embedding": "magic"}).status_code == 422
