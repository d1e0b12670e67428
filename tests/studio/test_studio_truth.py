"""The screen never lies: what is shown, said and numbered is what is there."""

import io
from pathlib import Path

import numpy as np
from pages import idle, sizes, until
from test_studio_api import labels_of, run_code

from evencut import EvenCut

PLACES = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])


def blobs(n=60, places=PLACES):
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(n, 2)) + place for place in places])


def people(n=60):
    """Three groups with gaps, a category with gaps and large numbers."""
    rng = np.random.default_rng(1)
    kind = np.arange(3 * n) % 3
    income = np.array([31000, 94720, 1_250_000])[kind] + rng.normal(size=3 * n) * 900
    age = np.array([20, 50, 80])[kind] + rng.normal(size=3 * n)
    lines = ["income,age,plan"]
    for i in range(3 * n):
        plan = "" if i % 11 == 0 else ["basic", "plus", "gold"][kind[i]]
        lines.append(f"{'' if i % 7 == 0 else f'{income[i]:.0f}'},{age[i]:.2f},{plan}")
    return "\n".join(lines) + "\n"


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def open_file(page, path):
    page.set_input_files("#points-file", path)
    page.wait_for_selector(f".data-name >> text={path.name}")
    page.wait_for_selector(f"#undo[title*='open {path.name}']")
    idle(page)


def numbers(page, pane):
    """The numbers, sizes and colours of the clusters of a side."""
    chips = page.locator(f"[data-pane={pane}] .size")
    colours = page.locator(f"[data-pane={pane}] .size i").evaluate_all("all => all.map((i) => i.style.background)")
    return {(text, colour) for text, colour in zip(chips.all_inner_texts(), colours)}


def test_the_table_of_clusters_acts_on_the_side_it_shows(opened, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "blobs")
    page.wait_for_selector(".data-name >> text=blobs")
    idle(page)
    page.click("[data-pane=b] .pane-title")
    page.get_by_role("button", name="Clusters", exact=True).click()
    page.wait_for_selector("text=Clusters of the right")
    page.get_by_role("button", name="Left", exact=True).click()
    page.wait_for_selector("text=Clusters of the left")
    right = sizes(page, "b")
    boxes = page.locator(".cluster-table input[type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.click("[data-action=merge]")
    until(page, "document.querySelectorAll('[data-pane=a] .size').length === 2")
    assert sizes(page, "b") == right


def test_categories_have_names_and_colours_and_leave_with_their_file(opened, studio, tmp_path):
    (tmp_path / "people.csv").write_text(people())
    page = opened.open(studio.address)
    open_file(page, tmp_path / "people.csv")
    page.select_option("[data-control=colour]", "column:plan")
    page.wait_for_selector("[data-pane=b] .category >> text=gold")
    legend = page.locator("[data-pane=b] .category").all_inner_texts()
    assert sorted(legend) == ["basic", "gold", "no value", "plus"]
    colours = page.locator("[data-pane=b] .category i").evaluate_all("all => all.map((i) => i.style.background)")
    assert len(set(colours)) == 4
    # Points have the colours of the plans: the clusters have none meanwhile.
    page.get_by_role("button", name="Clusters", exact=True).click()
    page.wait_for_selector(".cluster-table .told >> text=income")
    assert page.locator(".cluster-table .swatch").first.is_hidden()
    assert page.locator("[data-pane=b] .size i").first.is_hidden()
    page.select_option("[data-control=example]", "rings")
    page.wait_for_selector(".data-name >> text=rings")
    idle(page)
    assert page.locator("[data-control=colour]").input_value() == "cluster"
    assert page.locator("[data-pane=b] .colour-scale").is_hidden()


def test_the_axes_chosen_last_are_drawn_whatever_comes_late(opened, studio):
    page = opened.open(studio.address)
    page.select_option("[data-control=example]", "digits")
    page.wait_for_selector(".data-name >> text=digits")
    idle(page)
    late = []
    page.route("**/plane?x=*", lambda route: late.append(route))
    page.select_option("[data-control=x]", "pixel 20")
    page.select_option("[data-control=x]", "pca")
    page.wait_for_selector("#undo[title*='change the axes']")
    # The question that was asked first is answered last, with places that nobody could mistake.
    nothing = np.zeros(2 * 1797, "<f4").tobytes()
    about = '{"middle": [0, 0], "unit": [1, 1], "names": ["pixel 20", "pixel 0"]}'
    late[0].fulfill(body=nothing, headers={"x-evencut": about}, content_type="application/octet-stream")
    page.wait_for_timeout(400)
    assert page.locator("[data-control=x]").input_value() == "pca"
    shown = "document.querySelector('[data-pane=a] .plot-over').dataset.axes"
    assert page.evaluate(shown) == "component 1, component 2"


def test_agreement_counts_rows_that_both_sides_cluster(opened, studio):
    page = opened.open(studio.address)
    found = page.evaluate(
        """async () => {
            const { agreement } = await import("/static/js/agreement.js");
            const halves = [...Array(107).fill(0), ...Array(93).fill(1), ...Array(100).fill(-1)];
            const whole = [...Array(200).fill(0), ...Array(100).fill(-1)];
            return [agreement(halves, whole), agreement(halves, halves), agreement([-1, -1], [0, 1])];
        }"""
    )
    assert found == [0, 1, None]
    assert page.evaluate(
        """async () => {
            const { short, twoDigits } = await import("/static/js/ui.js");
            return [short(94720), short(1250000.4), short(0.25), short(-0.00001, 2), twoDigits(-0.001)];
        }"""
    ) == ["94,720", "1,250,000", "0.25", "-1.0e-5", "0.00"]


def test_a_number_that_was_found_is_shown_everywhere(opened, studio, tmp_path):
    np.savetxt(tmp_path / "mine.csv", blobs(places=PLACES[:3]), delimiter=",", header="u,v", comments="")
    page = opened.open(studio.address)
    open_file(page, tmp_path / "mine.csv")
    assert "k = 3, found" in page.locator("[data-pane=b] .pane-title").inner_text()
    page.click("[data-pane=b] .pane-title")
    assert page.locator("[data-control=n_clusters]").input_value() == "3"
    # Clusters that are equal have one number and one colour on both sides, also after another fit.
    assert numbers(page, "a") == numbers(page, "b")
    page.locator("[data-control=seed]").fill("7")
    page.locator("[data-control=seed]").press("Enter")
    page.wait_for_timeout(600)
    idle(page)
    assert numbers(page, "a") == numbers(page, "b")
    # k-means cannot find a number: it takes the one that was found.
    page.get_by_role("button", name="Auto", exact=True).click()
    page.wait_for_timeout(600)
    idle(page)
    page.click("[data-preset=kmeans]")
    page.wait_for_selector("[data-pane=b] h3 >> text=k-means")
    idle(page)
    assert "k = 3" in page.locator("[data-pane=b] .pane-title").inner_text()
    assert not page.locator(".notice.error").count()


def test_shares_of_clusters_add_up_where_rows_have_gaps(opened, studio, tmp_path):
    (tmp_path / "people.csv").write_text(people())
    page = opened.open(studio.address)
    open_file(page, tmp_path / "people.csv")
    page.get_by_role("button", name="Clusters", exact=True).click()
    page.wait_for_selector(".cluster-table .told >> text=income")
    shares = page.locator(".cluster-table tbody td:nth-child(4)").all_inner_texts()
    assert abs(sum(float(share.rstrip(" %")) for share in shares) - 100) <= 1
    told = " ".join(page.locator(".cluster-table .told").all_inner_texts())
    assert "e+" not in told
    assert "1,249,796" in told


def test_a_report_calls_clusters_as_the_user_does_and_lists_what_was_used(tab):
    tab.upload("/points/upload", people().encode(), "people.csv")
    run = tab.fit("b", n_clusters="auto")
    names = {str(i): f"<b>kind {i}" for i in range(run["facts"]["n_clusters"])}
    tab.put("/page", {"points": {"names": {run["id"]: names}}})
    report = tab.get(f"/runs/{run['id']}/report.html").text
    assert "&lt;b&gt;kind 2" in report and "<b>kind" not in report
    assert report.count("kind 1") >= 3  # the sizes, the evidence, what it is
    assert "parameters" not in report.split("<h2>Python")[0]
    assert "gaussian" not in report.split("<h2>Python")[0]
    assert "with gaps" in report


def test_corrections_are_obeyed_and_everything_else_stays(tab, tmp_path):
    X = blobs()
    tab.upload("/points/upload", saved(X), "p.npy")
    run = tab.fit("b", n_clusters=4)
    before = labels_of(tab, run)
    # Forty points of one cluster belong to another, says the user.
    source, target = before[0], before[-1]
    rows = np.flatnonzero(before == source)[:40].astype("<u4")
    path = f"{tab.base}/selection"
    answer = tab.client.post(path, params={"run": run["id"], "label": int(target)}, content=rows.tobytes())
    assert answer.status_code == 200
    body = {"pane": "b", "method": {"n_clusters": 4}, "hold": True, "around": run["id"]}
    again = tab.job("/runs", body)["result"]["run"]
    after = labels_of(tab, again)
    assert (after[rows] == target).all()
    others = before != source
    assert (after[others] == before[others]).mean() > 0.99
    assert again["n_held"] == 40
    np.save(tmp_path / "p.npy", X)
    code = tab.get(f"/runs/{again['id']}/recipe").json()["python"]
    (tmp_path / "corrections.csv").write_text(tab.get(f"/runs/{again['id']}/corrections.csv").text)
    assert np.array_equal(run_code(code, tmp_path), after)


def test_numbers_live_on_when_another_number_is_asked_for(tab, tmp_path):
    X = blobs()
    tab.upload("/points/upload", saved(X), "p.npy")
    four = labels_of(tab, tab.fit("b", n_clusters=4))
    three = tab.fit("b", n_clusters=3)
    labels = labels_of(tab, three)
    kept = [number for number in np.unique(labels) if (four[labels == number] == number).mean() > 0.4]
    assert len(kept) == 3
    np.save(tmp_path / "p.npy", X)
    recipe = tab.get(f"/runs/{three['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels)
    assert len(set(EvenCut(3, random_state=0).fit_predict(X))) == 3


def test_two_equal_clusters_are_numbered_by_the_library_or_as_the_other_side_shows_them(tab, tmp_path):
    X = blobs(places=PLACES[:2])
    library = EvenCut(2, random_state=0).fit_predict(X)
    np.savetxt(tmp_path / "p.csv", np.c_[X, 1 - library], delimiter=",", header="u,v,other", comments="", fmt="%.17g")
    tab.upload("/points/upload", (tmp_path / "p.csv").read_bytes(), "p.csv")
    tab.put("/points/columns", {"columns": ["u", "v"]})
    assert np.array_equal(labels_of(tab, tab.fit("b", n_clusters=2)), library)
    # Another tool has given the same two clusters the other numbers: shown first, these live on, in the code as well.
    tab.upload("/points/upload", (tmp_path / "p.csv").read_bytes(), "p.csv")
    tab.put("/points/columns", {"columns": ["u", "v"]})
    assert tab.post("/runs/column", {"pane": "a", "name": "other"}).status_code == 201
    run = tab.fit("b", n_clusters=2)
    assert np.array_equal(labels_of(tab, run), 1 - library)
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), 1 - library)
    assert "numbers" in recipe["why_no_command"]


def test_a_preview_goes_on_with_the_numbers_that_are_shown(tab):
    tab.upload("/points/upload", saved(blobs(places=PLACES[:3])), "p.npy")
    method = {"tool": "kernel", "kernel": "knn", "n_clusters": 3}
    first = np.frombuffer(tab.post("/preview", {"method": method}).content, "<i4")
    assert set(first) == {0, 1, 2}
    before = np.array([7, 0, 4])[first]
    again = tab.post("/preview", {"method": {**method, "seed": 5}, "before": before.tolist()})
    assert np.array_equal(np.frombuffer(again.content, "<i4"), before)
    assert tab.post("/preview", {"method": method, "before": [2_000_000_000] * 180}).status_code == 422


def test_names_survive_a_refit(opened, studio, tmp_path):
    np.savetxt(tmp_path / "mine.csv", blobs(), delimiter=",", header="u,v", comments="")
    page = opened.open(studio.address)
    open_file(page, tmp_path / "mine.csv")
    page.click("[data-pane=b] .pane-title")
    page.get_by_role("button", name="Clusters", exact=True).click()
    page.locator(".cluster-table [data-name='2']").fill("north")
    page.locator(".cluster-table [data-name='2']").press("Enter")
    page.wait_for_selector("[data-pane=b] .size >> text=north: 60")
    page.locator("[data-control=seed]").fill("3")
    page.locator("[data-control=seed]").press("Enter")
    page.wait_for_timeout(700)
    idle(page)
    page.wait_for_selector("[data-pane=b] .size >> text=north: 60")
    page.click("[data-pane=b] [data-action=export]")
    with page.expect_download() as download:
        page.click("[data-export=rows]")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[0] == "u,v,cluster,cluster name"
    assert sum(line.endswith(",2,north") for line in lines) == 60
