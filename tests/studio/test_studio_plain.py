"""Tables, cells and photos as people have them, and a first layer without words that have to be looked up."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import pytest
from pages import Page, idle, until
from PIL import Image
from sklearn.metrics import adjusted_rand_score
from test_studio_api import labels_of, run_code, run_command
from test_studio_truth import PLACES, blobs, open_file, saved
from test_studio_yours import png

import evencut
from conftest import Tab, command, running


def customers(n=90):
    """Identifiers, dates, a category, numbers with gaps, and what became of each."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 3
    lines = ["customer_id,joined,plan,income,visits,note,churned"]
    for i in range(n):
        joined = f"{2018 + 2 * kind[i]}-0{1 + i % 9}-11"
        income = "" if i % 13 == 0 else f"{[20000, 94720, 50000][kind[i]] + rng.normal() * 500:.0f}"
        plan = ["basic", "plus", "gold"][kind[i]]
        visits = rng.normal([2, 30, 60][kind[i]])
        lines.append(f"{100001 + i},{joined},{plan},{income},{visits:.2f},free words {i},{bool(i % 2)}")
    return ("\n".join(lines) + "\n").encode()


def test_columns_have_roles_with_reasons_and_words_and_dates_are_clustered(tab, tmp_path):
    data = customers()
    (tmp_path / "people.csv").write_bytes(data)
    loaded = tab.upload("/points/upload", data, "people.csv").json()
    roles = {column["name"]: column["role"] for column in loaded["columns"]}
    assert roles == {
        "customer_id": "identifier",
        "joined": "date",
        "plan": "category",
        "income": "number",
        "visits": "number",
        "note": "identifier",
        "churned": "outcome",
    }
    assert loaded["chosen"] == ["income", "visits"]
    assert all(column["why"] for column in loaded["columns"] if column["role"] != "number")
    refused = tab.put("/points/columns", {"columns": ["visits", "note"]})
    assert refused.status_code == 400 and "not categories" in refused.json()["detail"]
    for missing, n_gaps in (("drop", 7), ("mean", 0), ("neighbors", 0)):
        chosen = {"columns": ["joined", "plan", "income", "visits"], "missing": missing}
        assert tab.put("/points/columns", chosen).status_code == 200
        run = tab.fit("b", n_clusters=3)
        assert run["facts"]["n_missing"] == n_gaps
        labels = labels_of(tab, run)
        recipe = tab.get(f"/runs/{run['id']}/recipe").json()
        assert np.array_equal(run_code(recipe["python"], tmp_path), labels)
        if missing == "drop":
            assert np.array_equal(run_command(recipe["command"], tmp_path), labels)
        assert tab.get("/points/plane").status_code == 200
    assert tab.job(f"/runs/{run['id']}/diagnosis")["kind"] == "done"


def test_columns_are_found_taken_and_left_on_the_page(opened, studio, tmp_path):
    (tmp_path / "people.csv").write_bytes(customers())
    page = opened.open(studio.address)
    open_file(page, tmp_path / "people.csv")
    page.click("[data-action=check]")
    assert page.locator("[data-role=churned]").input_value() == "outcome"
    page.locator("[data-control=find-column]").fill("pla")
    assert page.locator("[data-column]:visible").count() == 1
    page.click("[data-action=all-columns]")
    page.wait_for_selector("[data-action=check] >> text=Uses 3 of 7")
    idle(page)
    page.select_option("[data-control=missing]", "mean")
    until(page, "!document.querySelector('[data-pane=b] .plain-only').textContent.includes('gaps')")
    assert "gaps left out" not in page.locator("[data-pane=b] .facts").inner_text()


def test_counts_of_cells_are_normalised_where_the_user_says_so(tab, tmp_path):
    rng = np.random.default_rng(0)
    means = rng.gamma(0.5, 2, size=(3, 80))
    for kind in range(3):
        means[kind, 10 * kind : 10 * kind + 10] += 8
    kind = np.arange(240) % 3
    counts = rng.poisson(means[kind] * rng.gamma(2, 0.5, size=(240, 1)))
    lines = ["cell," + ",".join(f"gene{i}" for i in range(80))]
    lines += [f"c{i}," + ",".join(map(str, row)) for i, row in enumerate(counts)]
    data = "\n".join(lines).encode()
    (tmp_path / "cells.csv").write_bytes(data)
    loaded = tab.upload("/points/upload", data, "cells.csv").json()
    assert any("log-normalise" in warning for warning in loaded["warnings"])
    assert len(loaded["chosen"]) == 80
    assert tab.put("/points/columns", {"columns": loaded["chosen"], "counts": True}).json()["counts"]
    run = tab.fit("b", n_clusters="auto")
    labels = labels_of(tab, run)
    assert adjusted_rand_score(kind, labels) > 0.95
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels)
    assert "counts" in recipe["why_no_command"]
    assert tab.get("/points/column", params={"name": "gene79"}).status_code == 200  # any gene can be a colour


def test_separate_islands_of_one_colour_are_told(tab):
    tab.upload("/points/upload", saved(blobs(places=1.5 * PLACES)), "p.npy")
    three, four = tab.fit("b", n_clusters=3), tab.fit("b", n_clusters=4)
    (label, n_islands), = three["facts"]["islands"]
    assert n_islands == 2
    assert (labels_of(tab, three) == label).sum() == 120
    assert four["facts"]["islands"] == []


def test_the_page_is_there_before_its_libraries_and_says_what_it_waits_for(opened, studio):
    page = opened.page
    held = []
    page.route("**/api/kernels", lambda route: held.append(route))
    page.goto(studio.address)
    page.wait_for_selector(".sidebar >> text=Group my rows")
    page.wait_for_selector("[data-pane=b] .size")
    assert page.evaluate("document.documentElement.dataset.ready") is None
    held[0].continue_()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator(".dock").bounding_box()["height"] < 80


def test_many_rows_open_grouped(opened, studio, tmp_path):
    np.save(tmp_path / "many.npy", np.repeat(blobs(places=np.array([[0, 0], [9, 9]])), 200, axis=0)[:24000])
    page = opened.open(studio.address)
    open_file(page, tmp_path / "many.npy")
    assert page.locator("[data-pane=b] .size").count() == 2


def tiff(pages, **options):
    file = io.BytesIO()
    first, *more = [Image.fromarray(page) for page in pages]
    first.save(file, "TIFF", save_all=True, append_images=more, **options)
    return file.getvalue()


def test_deep_pictures_are_seen_and_every_page_of_a_stack(tab):
    rng = np.random.default_rng(0)
    pages = [(rng.integers(0, 800, (40, 50)) + 200 * place).astype(np.uint16) for place in range(3)]
    found = tab.upload("/photo/upload", tiff(pages), "stack.tif").json()
    assert found["n_pages"] == 3
    shown = np.asarray(Image.open(io.BytesIO(tab.get("/photo/image").content)))
    assert shown.max() > 240 and shown.std() > 40  # twelve bits of a camera fill a screen
    answer = tab.client.post(
        f"{tab.base}/photo/upload", params={"name": "stack.tif", "page": 2}, content=tiff(pages)
    ).json()
    assert answer["name"] == "stack.tif, page 3"


def test_a_folder_of_photos_is_opened_and_a_project_too(browser, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for place in range(3):
        Image.open(io.BytesIO(png(place))).resize((1800, 1600)).save(folder / f"{place}.png")
    (folder / "notes.txt").write_text("not a photo")
    with running(command(str(folder)), tmp_path / "first") as studio:
        page = Page(browser, studio)
        view = page.open(studio.address)
        view.wait_for_selector("text=1 of 3")
        view.click("[data-action=next]")
        view.wait_for_selector(".data-name >> text=1.png")
        # Zoom by buttons; a stroke is as wide on the screen, so finer on the photo.
        assert view.evaluate("document.querySelector('.zoom').children.length") == 3
        view.get_by_role("button", name="Stroke", exact=True).click()
        strokes = []
        view.on("request", lambda request: request.url.endswith("/prompts") and strokes.append(request.post_data_json))
        box = view.locator(".photo-canvas").bounding_box()
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for press in (None, "zoom-in"):
            if press:
                view.click(f"[data-action={press}]")
                view.wait_for_timeout(200)
            view.mouse.move(*middle)
            view.mouse.down()
            view.mouse.move(middle[0] + 20, middle[1], steps=4)
            view.mouse.up()
            idle(view)
            view.wait_for_timeout(300)
        assert strokes[0]["radius"] / strokes[1]["radius"] == pytest.approx(1.5, rel=0.01)
        session = view.evaluate("sessionStorage.getItem('evencut-session')")
        with studio.client() as client:
            project = client.get(f"/api/sessions/{session}/project.evencut").content
        page.context.close()
    (tmp_path / "mine.evencut").write_bytes(project)
    with running(command(str(tmp_path / "mine.evencut")), tmp_path / "second") as studio:
        page = Page(browser, studio)
        view = page.open(studio.address)
        view.wait_for_selector(".data-name >> text=1.png")
        page.context.close()


STRANGE = (
    r"kernel|bandwidth|sigma|criteri|candidate|k-means|normali[sz]ed|affinit|energy|hdbscan|seed|conductance|"
    r"principal|eigen|diagnos|equali[sz]e|noise|metric|hyper|embedding|t-sne|umap|degrees|probabilit"
)


def test_a_person_who_knows_no_word_of_this_groups_names_and_exports(browser, studio, tmp_path):
    (tmp_path / "people.csv").write_bytes(customers())
    page = Page(browser, studio, plain=True, accept_downloads=True)
    view = page.open(studio.address)
    view.set_input_files("#points-file", tmp_path / "people.csv")
    view.wait_for_selector(".data-name >> text=people.csv")
    view.wait_for_selector(".group-card .profile")
    idle(view)
    view.click("[data-action=group]")
    idle(view)
    view.wait_for_selector(".group-card .profile-track i")
    cards = view.locator(".group-card")
    assert cards.count() == 3
    assert view.locator(".sweep-bar").is_hidden()
    text = view.locator("body").inner_text().replace("More: methods, two sides, diagnosis", "")
    assert not re.findall(STRANGE, text, re.IGNORECASE)
    view.locator(".group-card [data-name]").first.fill("regulars")
    view.locator(".group-card [data-name]").first.press("Enter")
    view.wait_for_selector("[data-pane=b] .size >> text=regulars")
    slider = view.locator("[data-control=groups]")
    slider.evaluate("(box) => { box.value = 4; box.dispatchEvent(new Event('change')); }")
    until(view, "document.querySelectorAll('.group-card').length === 4")
    idle(view)
    assert view.locator("[data-pane=b] .size", has_text="regulars").count() == 1
    view.click("[data-pane=b] [data-action=export]")
    with view.expect_download() as download:
        view.click("[data-export=rows]")
    out = Path(download.value.path()).read_text().splitlines()
    assert out[0] == "customer_id,joined,plan,income,visits,note,churned,cluster,cluster name"
    assert sum(line.endswith(",regulars") for line in out) > 20
    view.keyboard.press("Escape")
    view.click("[data-action=more]")
    view.wait_for_selector("[data-pane=a] h3 >> text=k-means")
    page.context.close()
    assert not page.wrong, page.wrong


def test_a_histogram_filters_by_a_drag(opened, studio):
    page = opened.open(studio.address)
    page.get_by_role("button", name="Selected", exact=True).click()
    page.wait_for_selector(".histograms canvas")
    box = page.locator(".histograms canvas").first.bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20, steps=4)
    page.mouse.up()
    X, _ = evencut.datasets.make_clumped_moons(600, clump=0.5, random_state=0)
    half = (X[:, 0].min() + X[:, 0].max()) / 2
    page.wait_for_selector(".selection-bar strong")
    found = int(page.locator(".selection-bar strong").inner_text().split()[0])
    assert abs(found - (X[:, 0] < half).sum()) < 40


def test_a_script_without_a_guard_opens_one_studio(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, pandas as pd, evencut, httpx, time\n"
        "open('began', 'a').write('x')\n"
        "my_points = pd.DataFrame({'u': np.r_[np.zeros(20), np.ones(20)], 'v': np.arange(40.0)})\n"
        "studio = evencut.open_studio(my_points, open_browser=False)\n"
        "base, _, token = studio.address.partition('/?token=')\n"
        "client = httpx.Client(base_url=base, headers={'Authorization': f'Bearer {token}'}, timeout=300)\n"
        "tab = '/api/sessions/' + client.post('/api/sessions').json()['id']\n"
        "print(client.post(tab + '/points/given', json={'index': 0}).json()['name'])\n"
        "studio.close()\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    run = [sys.executable, str(script)]
    done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["my_points"]
    assert (tmp_path / "began").read_text() == "x"


def test_a_notebook_takes_a_table_and_a_model_home():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs(places=np.array([[0, 0], [9, 9]])), columns=["u", "v"], index=range(500, 620))
    with evencut.open_studio(frame, open_browser=False) as studio:
        base, _, token = studio.address.partition("/?token=")
        with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=600) as client:
            tab = Tab(client)
            tab.post("/points/given", {"index": 0})
            run = tab.fit("b", n_clusters=2)
            tab.put("/page", {"points": {"names": {run["id"]: {"1": "far"}}}})
            code = tab.get(f"/runs/{run['id']}/recipe").json()["python"]
            labels = labels_of(tab, run)
        table, model = studio.table(), studio.model()
    assert list(table.index) == list(frame.index)
    assert table["cluster"].tolist() == labels.tolist()
    assert set(table["cluster name"][table["cluster"] == 1]) == {"far"}
    assert np.array_equal(model.labels_, labels)
    assert model.predict([[9.0, 9.0]]).shape == (1,)
    made = {"frame": frame}
    exec("\n".join(line for line in code.splitlines() if "savetxt" not in line), made)
    assert np.array_equal(made["labels"], labels)
