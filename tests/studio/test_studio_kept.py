"""Nothing is lost: undo and redo over everything, reload, project files, clusterings of before, closed tabs."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from pages import Page, idle, sizes, wait_for_sizes
from PIL import Image
from test_studio_api import PLAIN, labels_of, run_code

from conftest import running, with_limits


def data_name(page):
    return page.locator(".data-name").first.inner_text()


def settled(page):
    """Until what was done is told to the server."""
    for _ in range(2):  # between two clusterings the page may look idle
        idle(page)
        page.wait_for_timeout(500)
        page.wait_for_selector("html[data-told=yes]")


def undo(page):
    page.locator("body").click(position={"x": 2, "y": 2})
    page.keyboard.press("Control+z")


def test_undo_reaches_methods_views_and_data(opened, studio):
    page = opened.open(studio.address)
    settled(page)
    page.click("[data-preset=kmeans]")
    page.wait_for_selector("[data-pane=a] h3 >> text=k-means")
    settled(page)
    changed = sizes(page, "a")
    page.get_by_role("button", name="One", exact=True).click()
    settled(page)
    page.select_option("[data-control=example]", "rings")
    page.wait_for_selector(".data-name >> text=rings")
    settled(page)
    undo(page)
    page.wait_for_selector(".data-name >> text=moons")
    wait_for_sizes(page, "a", changed)
    assert page.locator("[data-pane=b]").is_hidden()
    undo(page)
    page.locator("[data-pane=b]").wait_for(state="visible")
    undo(page)
    page.wait_for_selector("[data-pane=a] h3 >> text=Kernel k-means")
    wait_for_sizes(page, "a", [182, 418])
    # Miniatures that are still asked for belong to data that are gone by then.
    opened.expected = ["/labels?every"]
    for _ in range(3):
        page.keyboard.press("Control+Shift+z")
    page.wait_for_selector(".data-name >> text=rings")


def test_undo_reaches_corrections(tab):
    tab.example("moons")
    first = tab.fit("a", **PLAIN)
    tab.post("/history", {"what": "cluster", "page": {}})
    rows = np.arange(40, dtype="<u4").tobytes()
    tab.client.post(f"{tab.base}/selection", params={"run": first["id"], "label": 1}, content=rows)
    tab.fit("a", hold=True, **PLAIN)
    about = tab.post("/history", {"what": "hold 40 points", "page": {"half": "points"}}).json()
    assert about == {"position": 1, "n_moments": 2, "undo": "hold 40 points", "redo": None}
    state = tab.put("/history", {"position": 0}).json()
    assert not state["corrections"]
    assert state["panes"]["a"]["id"] == first["id"]
    assert state["history"]["redo"] == "hold 40 points"
    state = tab.put("/history", {"position": 1}).json()
    assert state["corrections"] == [{"label": 1, "n_rows": 40}]
    assert state["page"] == {"half": "points"}
    assert state["panes"]["a"]["n_held"] == 40


def test_a_reload_keeps_names_views_reports_and_undo(opened, studio):
    page = opened.open(studio.address)
    page.click("[data-pane=a] [data-action=diagnose]")
    page.wait_for_selector("[data-pane=a] .verdict.bad")
    page.get_by_role("button", name="Clusters", exact=True).click()
    # Its number is that of the moon it lies in, on the right: there the two have 300 points each.
    clump = page.locator("tr:has(td:text-is('182')) [data-name]")
    clump.fill("the clump")
    clump.press("Tab")
    page.select_option("[data-control=shading]", "density+lines")
    settled(page)
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_selector("[data-pane=a] .verdict.bad")
    assert page.locator("[data-control=shading]").input_value() == "density+lines"
    assert any("the clump: 182" in text for text in page.locator("[data-pane=a] .size").all_inner_texts())
    assert page.locator("#undo").is_enabled()
    opened.shot("reloaded")


def test_a_project_holds_everything(opened, studio, tmp_path):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "blobs")
    page.wait_for_selector(".data-name >> text=blobs")
    settled(page)
    page.get_by_role("button", name="Clusters", exact=True).click()
    # A cluster that is none of the right's has a number of its own.
    smallest = page.locator(".cluster-table [data-name]").last
    smallest.fill("the small one")
    smallest.press("Tab")
    settled(page)
    before = {pane: sizes_with_names(page, pane) for pane in "ab"}
    page.click("#project summary")
    with page.expect_download() as download:
        page.click("#save-project")
    assert download.value.suggested_filename == "blobs.evencut"
    path = tmp_path / "blobs.evencut"
    path.write_bytes(Path(download.value.path()).read_bytes())
    page.select_option("[data-control=example]", "moons")
    page.wait_for_selector(".data-name >> text=moons")
    settled(page)
    page.set_input_files("#project-file", path)
    page.wait_for_selector(".data-name >> text=blobs")
    settled(page)
    assert {pane: sizes_with_names(page, pane) for pane in "ab"} == before
    undo(page)
    page.wait_for_selector(".data-name >> text=moons")


def sizes_with_names(page, pane):
    return page.locator(f"[data-pane={pane}] .size").all_inner_texts()


def test_a_project_brings_back_labels_corrections_reports_and_their_code(studio, tab, tmp_path):
    tab.example("moons")
    run = tab.fit("a", **PLAIN)
    rows = np.arange(30, dtype="<u4").tobytes()
    tab.client.post(f"{tab.base}/selection", params={"run": run["id"], "label": 0}, content=rows)
    held = tab.fit("b", hold=True, **PLAIN)
    tab.job(f"/runs/{run['id']}/diagnosis")
    merged = tab.job(f"/runs/{held['id']}/merge", {"pane": "b", "labels": [0, 1]})["result"]["run"]
    saved = tab.get("/project.evencut").content
    other = studio.tab()
    state = other.upload("/project/upload", saved, "p.evencut").json()
    assert state["panes"]["a"]["id"] == run["id"]
    assert state["corrections"] == [{"label": 0, "n_rows": 30}]
    for one in (run, held, merged):
        assert np.array_equal(labels_of(other, one), labels_of(tab, one))
    assert other.get(f"/runs/{run['id']}/diagnosis").json()["report"]["verdict"] == "mode isolation"
    code = other.get(f"/runs/{held['id']}/recipe").json()["python"]
    assert np.array_equal(run_code(code, tmp_path), labels_of(tab, held))
    other.client.delete(other.base)
    other.client.close()


def project_with(change):
    """A project file whose list of contents was changed by hand."""

    def made(saved):
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(file, "w") as new:
            for entry in old.namelist():
                data = old.read(entry)
                if entry == "project.json":
                    content = json.loads(data)
                    change(content)
                    data = json.dumps(content).encode()
                new.writestr(entry, data)
        return file.getvalue()

    return made


def bomb(saved):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("project.json", b"0" * (1 << 30))
    return file.getvalue()


HOSTILE = {
    "no archive": (lambda saved: b"PK\x03\x04 nothing", 400),
    "cut off": (lambda saved: saved[: len(saved) // 2], 400),
    "a bomb": (bomb, 413),
    "a kernel that is code": (
        project_with(lambda content: content["points"]["runs"][0]["method"].update(kernel="__import__('os')")),
        400,
    ),
    "an unknown part": (project_with(lambda content: content.update(shell="rm")), 400),
    "a column too many": (project_with(lambda content: content["points"]["chosen"].append("z")), 400),
    "codes without names": (project_with(lambda content: content["points"]["columns"][2].update(names=["a"])), 400),
    "a later version": (project_with(lambda content: content.update(version=3)), 400),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_projects_are_refused_and_change_nothing(tab, name):
    change, status = HOSTILE[name]
    tab.example("moons")
    run = tab.fit("a", **PLAIN)
    answer = tab.upload("/project/upload", change(tab.get("/project.evencut").content), "p.evencut")
    assert answer.status_code == status, answer.text
    assert tab.get("").json()["panes"]["a"]["id"] == run["id"]


def test_a_clustering_of_before_is_shown_again(opened, studio):
    page = opened.open(studio.address)
    settled(page)
    page.click("[data-preset=kmeans]")
    page.wait_for_selector("[data-pane=a] h3 >> text=k-means")
    settled(page)
    page.get_by_role("button", name="Runs", exact=True).click()
    assert page.locator(".kept-run canvas").count() == 3
    page.locator(".kept-run").filter(has_text="Kernel k-means").click()
    page.wait_for_selector("[data-pane=a] h3 >> text=Kernel k-means")
    wait_for_sizes(page, "a", [182, 418])
    assert page.locator("[data-preset=kernel_kmeans]").get_attribute("aria-pressed") == "true"
    opened.shot("runs")


def test_closed_tabs_give_way_at_once(tmp_path):
    with running(with_limits(8895, sessions=3), tmp_path) as studio:
        tabs = [studio.tab() for _ in range(3)]
        for one in tabs:
            one.example("moons")
        assert tabs[0].client.post("/api/sessions").status_code == 429
        assert tabs[1].client.post(f"{tabs[1].base}/leave").status_code == 204
        assert tabs[0].client.post("/api/sessions").status_code == 201
        assert tabs[1].get("").status_code == 404
        # One that is loaded again has not left.
        tabs[2].client.post(f"{tabs[2].base}/leave")
        assert tabs[2].get("").status_code == 200
        assert tabs[0].client.post("/api/sessions").status_code == 201  # the empty one gives way, not this
        assert tabs[2].get("").status_code == 200
        for one in tabs:
            one.client.close()


def test_a_page_that_is_closed_frees_its_session(browser, tmp_path):
    with running(with_limits(8905, sessions=1), tmp_path) as studio:
        page = Page(browser, studio)
        view = page.open(studio.address)
        with studio.client() as client:
            assert client.post("/api/sessions").status_code == 429
            view.reload()
            view.wait_for_selector("html[data-ready=yes]")
            assert data_name(view) == "moons.csv"
            assert client.post("/api/sessions").status_code == 429
            view.goto("about:blank")
            view.wait_for_timeout(2000)
            assert client.post("/api/sessions").status_code == 201
        page.context.close()


def slowly(page, path):
    """Let questions of a kind reach the studio a second late, so that whatever is done meanwhile overtakes them."""

    def wait(route):
        page.wait_for_timeout(1000)
        route.continue_()

    page.route(path, wait)


def test_a_file_opened_while_the_first_example_loads_is_what_stays(opened, studio, tmp_path, rng):
    np.save(tmp_path / "mine.npy", np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(60, 2)) + 9]))
    page = opened.page
    slowly(page, "**/points/example")
    page.goto(studio.address)
    page.set_input_files("#points-file", tmp_path / "mine.npy")
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_selector(".data-name >> text=mine.npy")
    wait_for_sizes(page, "a", [40, 60])
    wait_for_sizes(page, "b", [40, 60])
    idle(page)
    assert page.locator(".data-name").first.inner_text() == "mine.npy"
    assert not page.locator(".notice.error").count()


def test_a_photo_opened_while_the_example_loads_is_what_stays(opened, studio, tmp_path, rng):
    Image.fromarray(rng.integers(0, 255, (50, 70, 3), np.uint8)).save(tmp_path / "mine.png")
    page = opened.open(studio.address)
    slowly(page, "**/photo/example")
    page.click("#tab-photos")
    page.set_input_files("#photo-file", tmp_path / "mine.png")
    page.wait_for_selector("text=70 × 50 pixels")
    page.wait_for_timeout(1500)
    page.reload()
    page.wait_for_selector("text=70 × 50 pixels")
