"""Cells, sheets and roles: files of AnnData, a sheet of a workbook, columns used as the user says, a map first."""

import io

import numpy as np
import pytest
from pages import idle, sizes, until
from sklearn.metrics import adjusted_rand_score
from test_studio_api import csv_of, labels_of, run_code, workbook

KINDS = (0.3, 0.25, 0.2, 0.12, 0.08, 0.05)


def made_cells(n=400, n_genes=60):
    """Counts of cells of six types, each with genes of its own."""
    rng = np.random.default_rng(0)
    kind = rng.choice(len(KINDS), n, p=KINDS)
    mean = np.tile(rng.gamma(0.6, 1.2, n_genes), (len(KINDS), 1))
    for own in mean:
        own[rng.choice(n_genes, n_genes // 8, replace=False)] += rng.uniform(6, 12, n_genes // 8)
    return rng.poisson(mean[kind] * rng.lognormal(0, 0.3, n)[:, None]).astype(np.float32), kind


def cells_file(path, **obsm):
    """Counts as AnnData, with a type and a total noted of each cell."""
    anndata = pytest.importorskip("anndata")
    import pandas as pd
    from scipy import sparse

    X, kind = made_cells()
    index = [f"cell{i}" for i in range(len(X))]
    obs = pd.DataFrame({"type": pd.Categorical([f"type {k}" for k in kind]), "n_counts": X.sum(axis=1)}, index=index)
    var = pd.DataFrame(index=[f"GENE{i}" for i in range(X.shape[1])])
    anndata.AnnData(sparse.csr_matrix(X), obs=obs, var=var, obsm=obsm).write_h5ad(path)
    return X, kind


def test_cells_of_anndata_are_read_normalised_grouped_and_made_again(tab, tmp_path):
    X, kind = cells_file(tmp_path / "cells.h5ad")
    loaded = tab.upload("/points/upload", (tmp_path / "cells.h5ad").read_bytes(), "cells.h5ad").json()
    genes = [f"GENE{i}" for i in range(X.shape[1])]
    assert loaded["chosen"] == genes
    roles = {column["name"]: column["role"] for column in loaded["columns"]}
    assert (roles["type"], roles["n_counts"], roles["GENE7"]) == ("category", "leave out", "number")
    assert any("log-normalise" in text for text in loaded["warnings"])
    assert tab.put("/points/columns", {"columns": genes, "counts": True}).status_code == 200
    run = tab.fit(n_clusters=6)
    labels = labels_of(tab, run)
    assert adjusted_rand_score(kind, labels) > 0.95
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels)
    assert "type" in tab.get(f"/runs/{run['id']}/rows").text.splitlines()[0]
    assert tab.upload("/points/upload", b"\x89HDF\r\n\x1a\n nothing", "broken.h5ad").status_code == 400


def test_principal_components_that_a_file_has_are_used(tab, tmp_path):
    components = np.random.default_rng(1).normal(size=(400, 12))
    cells_file(tmp_path / "cells.h5ad", X_pca=components)
    loaded = tab.upload("/points/upload", (tmp_path / "cells.h5ad").read_bytes(), "cells.h5ad").json()
    assert loaded["chosen"] == [f"X_pca[{i}]" for i in range(12)]
    column = tab.get("/points/column", params={"name": "X_pca[3]"}).content
    assert np.allclose(np.frombuffer(column, "<f4"), components[:, 3], atol=1e-6)


def test_a_sheet_of_a_workbook_is_chosen_and_comes_back_with_its_clusters(tab, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 9])
    data = workbook([["read", "me"], *([i, i % 7] for i in range(9))], more=[["x", "y"], *X.tolist()])
    first = tab.upload("/points/upload", data, "book.xlsx").json()
    assert first["reading"]["sheets"] == ["Sheet", "notes"] and first["n_rows"] == 9
    assert any("'Sheet'" in text for text in first["warnings"])
    options = {"name": "book.xlsx", "sheet": "notes"}
    second = tab.client.post(f"{tab.base}/points/upload", params=options, content=data).json()
    assert second["n_rows"] == 60 and second["reading"]["sheet"] == "notes"
    run = tab.fit(n_clusters=2)
    (tmp_path / "book.xlsx").write_bytes(data)
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels_of(tab, run))
    assert "first sheet" in recipe["why_no_command"]
    book = openpyxl.load_workbook(io.BytesIO(tab.get(f"/runs/{run['id']}/rows").content))
    assert [cell.value for cell in book["notes"][1]] == ["x", "y", "cluster", "cluster name"]
    assert book["Sheet"].max_column == 2
    wrong = tab.client.post(f"{tab.base}/points/upload", params={**options, "sheet": "none"}, content=data)
    assert wrong.status_code == 400 and "it has" in wrong.json()["detail"]


def areas():
    """Two groups that differ by the code of an area, whose size says nothing."""
    rng = np.random.default_rng(0)
    kind = np.arange(120) % 2
    return kind, csv_of({"age": rng.normal(40, 9, 120), "area": np.where(kind, 5, 9) - 3 * (np.arange(120) % 4 < 2)})


def test_numbers_become_categories_and_numbers_again_where_the_user_says_so(studio, tab, tmp_path):
    _, data = areas()
    tab.upload("/points/upload", data, "areas.csv")
    both = ["age", "area"]
    changed = tab.put("/points/columns", {"columns": both, "roles": {"area": "category"}}).json()
    (about,) = [column for column in changed["columns"] if column["name"] == "area"]
    assert (about["role"], about["why"], about["number"]) == ("category", "your choice", False)
    assert tab.get("/points/names", params={"name": "area"}).json()["names"] == ["2", "5", "6", "9"]
    run = tab.fit(tool="kmeans", n_clusters=4)
    (tmp_path / "areas.csv").write_bytes(data)
    recipe = tab.get(f"/runs/{run['id']}/recipe").json()
    assert "categories=['area']" in recipe["python"]
    assert np.array_equal(run_code(recipe["python"], tmp_path), labels_of(tab, run))
    other = studio.tab()
    state = other.upload("/project/upload", tab.get("/project.evencut").content, "p.evencut").json()
    assert [column["role"] for column in state["points"]["columns"]] == ["number", "category"]
    other.client.close()
    back = tab.put("/points/columns", {"columns": both, "roles": {"area": "number"}}).json()
    assert back["columns"][1]["number"]
    many = tab.put("/points/columns", {"columns": both, "roles": {"age": "category"}})
    assert many.status_code == 400 and "different numbers" in many.json()["detail"]
    assert tab.get("").json()["points"]["key"] == back["key"]


def test_a_map_shows_islands_and_warns_where_they_have_one_colour(tab):
    X, _ = made_cells()
    tab.upload("/points/upload", csv_of({f"g{i}": column for i, column in enumerate(X.T)}), "cells.csv")
    columns = [f"g{i}" for i in range(X.shape[1])]
    tab.put("/points/columns", {"columns": columns, "counts": True})
    job = tab.post("/points/plane", {"embedding": "map"}).json()["id"]
    steps = list(tab.events(job))
    assert steps[-1]["kind"] == "done"
    assert any(step["kind"] == "progress" and step["share"] for step in steps)
    places = np.frombuffer(tab.get("/points/plane", params={"embedding": "map"}).content, "<f4").reshape(-1, 2)
    assert np.isfinite(places).all() and np.ptp(places, axis=0).max() == 2
    few, six = tab.fit(n_clusters=3), tab.fit(n_clusters=6)
    assert sum(n for _, n in few["facts"]["islands"]) >= 4
    assert not six["facts"]["islands"]


def test_rows_that_repeat_are_no_islands(tab):
    ages = np.repeat(np.arange(30, 60), 12)
    tab.upload("/points/upload", csv_of({"age": ages}), "ages.csv")
    assert not tab.fit(n_clusters=1)["facts"]["islands"]


def test_the_page_opens_cells_as_a_map_that_can_be_stopped_and_coloured_by_any_gene(opened, studio, tmp_path):
    cells_file(tmp_path / "cells.h5ad")
    page = opened.open(studio.address)
    page.set_input_files("#points-file", tmp_path / "cells.h5ad")
    page.wait_for_selector(".data-name >> text=cells.h5ad")
    page.wait_for_selector("#work >> text=Drawing the map")
    idle(page)
    assert page.locator("[data-control=x]").input_value() == "map"
    page.select_option("[data-control=colour]", "column:GENE7")
    page.wait_for_selector("[data-pane=b] .colour-scale >> text=GENE7")
    page.select_option("[data-control=x]", "tsne")
    page.wait_for_selector("#work-stop")
    page.click("#work-stop")
    until(page, "document.querySelector('[data-control=x]').value === 'pca'")
    idle(page)
    assert sum(sizes(page, "b")) == 400


def test_sheets_and_roles_are_chosen_on_the_page(opened, studio, tmp_path):
    pytest.importorskip("openpyxl")
    kind, _ = areas()
    rows = [["age", "area"], *([30 + i % 17, 5 + int(k)] for i, k in enumerate(kind))]
    (tmp_path / "book.xlsx").write_bytes(workbook([["read", "me"], [1, 2], [3, 5], [9, 8]], more=rows))
    page = opened.open(studio.address)
    page.set_input_files("#points-file", tmp_path / "book.xlsx")
    page.wait_for_selector(".data-name >> text=book.xlsx")
    idle(page)
    page.click("[data-action=check]")
    page.select_option("[data-control=read-sheet]", "notes")
    page.wait_for_selector("text=120 rows")
    idle(page)
    assert page.locator("[data-control=read-sheet]").input_value() == "notes"
    page.select_option("[data-role=area]", "category")
    page.wait_for_selector("td >> text=your choice")
    page.wait_for_selector("#undo[title*='cluster by 2 columns']")
    idle(page)
    page.select_option("[data-control=colour]", "column:area")
    page.wait_for_selector("[data-pane=b] .category >> text=6")
    page.wait_for_selector("#undo[title*='change the colours']")
    page.select_option("[data-role=area]", "leave out")
    page.wait_for_selector("text=Uses 1 of 2 columns")
    idle(page)
    page.wait_for_selector("#undo[title*='cluster by 1 columns']")
    page.click("#undo")
    page.wait_for_selector("text=Uses 2 of 2 columns")
