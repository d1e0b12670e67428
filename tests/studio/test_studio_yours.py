"""What is the user's stays the user's: files leave as they came, and no work is lost."""

import gzip
import io
import json
import os
import signal
import stat
import time
import zipfile

import numpy as np
import pytest
from PIL import Image
from test_studio_api import PLAIN, labels_of, workbook
from test_studio_truth import blobs, open_file, people

from conftest import command, running

EXACT = (
    '# a remark\r\nid,day,flag,sum,"a note"\r\n100001,2024-01-05,true,+1,"two\nlines, one ""cell"""\r\n'
    "9007199254740993,,false,2,x\r\n\r\n100003,2024-02-01,true,007,\r\n100004,2024-02-02,true,4,y"
)
WRITTEN = {
    "plain.csv": EXACT.encode(),
    "marked.csv": EXACT.encode("utf-8-sig"),
    "wide.csv": EXACT.encode("utf-16"),
    "packed.csv.gz": gzip.compress(EXACT.encode()),
    "latin.csv": EXACT.replace("x", "gr\u00fcn").encode("latin-1"),
    "semicolons.csv": b"a;b;n\n1,5;2;x\n2,25;3;\n10,5;4;z\n",
    "blanks.txt": b"1  2\n3  4.0\n5  6\n7  8\n",
}


def decoded(name, data):
    if name.endswith(".gz"):
        return data.decode()
    return data.decode({"wide.csv": "utf-16", "latin.csv": "latin-1", "marked.csv": "utf-8-sig"}.get(name, "utf-8"))


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_leaves_as_it_came_with_two_columns_more(tab, name):
    data = WRITTEN[name]
    answer = tab.upload("/points/upload", data, name)
    assert answer.status_code == 201, answer.text
    separator = {"semicolons.csv": ";", "blanks.txt": " "}.get(name, ",")
    columns = [column["name"] for column in answer.json()["columns"] if column["number"]]
    tab.put("/points/columns", {"columns": columns[-1:]})
    run = tab.fit("b", tool="kmeans", n_clusters=2)
    tab.put("/page", {"points": {"names": {run["id"]: {"1": "=1+1"}}}})
    labels = labels_of(tab, run).tolist()
    out = decoded(name, tab.get(f"/runs/{run['id']}/rows").content)
    before = decoded(name, gzip.decompress(data) if name.endswith(".gz") else data)
    added = [f"{separator}{label}{separator}" + ("'=1+1" if label == 1 else "") for label in labels]
    if name != "blanks.txt":
        added.insert(0, f"{separator}cluster{separator}cluster name")
    left = out
    for more in added:  # what was added is there, in order, and nothing else is
        assert more in left or more.replace(" ", ' ""') in left, (more, left)
        at = left.index(more)
        before_more, left = left[:at], left[at + len(more) :]
        assert before.startswith(before_more), (before_more, before[:60])
        before = before[len(before_more) :]
    assert left.replace('""', "") == before


def test_parquet_keeps_its_types_and_a_workbook_its_cells(tab):
    import datetime

    import pyarrow
    import pyarrow.parquet
    from openpyxl import load_workbook

    days = [datetime.date(2024, 1, 1) + datetime.timedelta(i) for i in range(20)]
    table = pyarrow.table({"id": [2**53 + 1 + i for i in range(20)], "day": days, "x": np.arange(20.0) % 7})
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    tab.upload("/points/upload", file.getvalue(), "p.parquet")
    run = tab.fit("b", tool="kmeans", n_clusters=2)
    answer = tab.get(f"/runs/{run['id']}/rows")
    assert 'filename="clusters.parquet"' in answer.headers["content-disposition"]
    out = pyarrow.parquet.read_table(io.BytesIO(answer.content))
    assert out.select(["id", "day", "x"]).equals(table)
    assert out["cluster"].to_pylist() == labels_of(tab, run).tolist()
    rows = [["id", "note", "x"], *([i, f"=A{i + 2}*2", float(i % 7)] for i in range(20))]
    tab.upload("/points/upload", workbook(rows), "b.xlsx")
    run = tab.fit("b", tool="kmeans", n_clusters=2)
    out = load_workbook(io.BytesIO(tab.get(f"/runs/{run['id']}/rows").content)).worksheets[0]
    assert [cell.value for cell in out[3]][:2] == [1, "=A3*2"]
    assert [row[-2].value for row in out.iter_rows(min_row=2)] == labels_of(tab, run).tolist()


def png(seed):
    rng = np.random.default_rng(seed)
    pixels = np.clip(rng.normal(0, 5, (80, 90, 3)) + 90, 0, 255)
    pixels[20:60, 30:70] += 120
    file = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def cut(tab):
    body = {"kind": "box", "points": [[22, 12], [78, 68]], "label": 2, "object": 1}
    event = tab.job("/photo/prompts", body)
    assert event["kind"] == "done", event
    return tab.get("/photo/labels").content


def test_a_project_holds_every_photo_and_all_leave_in_one_file(studio, tab):
    masks = {}
    for name in ("one.png", "two.png"):
        tab.upload("/photo/upload", png(len(masks)), name)
        masks[name] = cut(tab)
    saved = tab.get("/project.evencut").content
    other = studio.tab()
    state = other.upload("/project/upload", saved, "p.evencut").json()
    assert [photo["name"] for photo in state["album"]] == ["one.png", "two.png"]
    assert state["photo"]["name"] == "two.png"
    for entry in state["album"]:
        other.put("/photo/current", {"key": entry["key"]})
        assert other.get("/photo/labels").content == masks[entry["name"]]
    with zipfile.ZipFile(io.BytesIO(other.get("/photos.zip").content)) as archive:
        coco = json.loads(archive.read("coco.json"))
        assert [image["file_name"] for image in coco["images"]] == ["one.png", "two.png"]
        assert {note["image_id"] for note in coco["annotations"]} == {1, 2}
        assert "one_png/masks/object_1.png" in archive.namelist()
    other.client.delete(other.base)
    other.client.close()


def changed(project, change, entries=None):
    """A project whose list of contents, or whose arrays, somebody has changed."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(project)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            data = (entries or {}).get(entry, old.read(entry))
            if entry == "project.json":
                content = json.loads(data)
                change(content)
                data = json.dumps(content).encode()
            new.writestr(entry, data)
    return file.getvalue()


def array(values):
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def test_a_refused_project_replaces_nothing(tab):
    tab.upload("/points/upload", people().encode(), "people.csv")
    run = tab.fit("a", **PLAIN)
    gaps = array(np.full(180, np.nan))
    refused = changed(tab.get("/project.evencut").content, lambda content: None, {"table/0.npy": gaps})
    answer = tab.upload("/project/upload", refused, "p.evencut")
    assert answer.status_code == 400
    assert "rows have a value in every column" in answer.json()["detail"]
    state = tab.get("").json()
    assert state["points"]["name"] == "people.csv"
    assert state["panes"]["a"]["id"] == run["id"]
    assert tab.get(f"/runs/{run['id']}/labels").status_code == 200


def test_a_wide_table_is_used_to_its_last_column(tab):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 320))
    X[:30, 300:] += 9
    loaded = tab.upload("/points/upload", array(X), "wide.npy").json()
    assert len(loaded["chosen"]) == 320
    labels = labels_of(tab, tab.fit("b", n_clusters=2))
    assert len(set(labels[:30])) == len(set(labels[30:])) == 1


def test_work_is_restored_after_the_studio_was_killed(browser, tmp_path):
    with running(command("--port", "8931"), tmp_path) as studio:
        tab = studio.tab()
        tab.upload("/points/upload", people().encode(), "people.csv")
        run = tab.fit("b", n_clusters=3)
        labels = labels_of(tab, run)
        tab.post("/history", {"what": "cluster", "page": {"half": "points"}})
        folder = tmp_path / "data" / "evencut" / "studio"
        deadline = time.monotonic() + 60
        while not list(folder.rglob("*.evencut")):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        for path in (*folder.rglob("*.evencut"), *folder.rglob("*/")):
            assert stat.S_IMODE(os.stat(path).st_mode) & 0o077 == 0, path
        # Nobody restores what is still open.
        assert not tab.client.get("/api/about").json()["recoverable"]
        tab.client.close()
        studio.process.send_signal(signal.SIGKILL)
        studio.process.wait()
    from pages import Page

    with running(command("--port", "8931"), tmp_path) as studio:
        page = Page(browser, studio)
        view = page.open(studio.address)
        view.click("[data-action=recover]")
        view.wait_for_selector(".data-name >> text=people.csv")
        view.wait_for_selector("[data-pane=b] .size")
        view.wait_for_selector(".recover", state="detached")
        session = view.evaluate("sessionStorage.getItem('evencut-session')")
        with studio.client() as client:
            state = client.get(f"/api/sessions/{session}").json()
            again = client.get(f"/api/sessions/{session}/runs/{state['panes']['b']['id']}/labels").content
        assert np.array_equal(np.frombuffer(again, "<i4"), labels)
        page.context.close()


def test_leaving_with_work_in_no_file_is_asked_about(opened, studio, tmp_path):
    np.savetxt(tmp_path / "mine.csv", blobs(), delimiter=",", header="u,v", comments="")
    page = opened.open(studio.address)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert not asked  # an example is nobody's work
    open_file(page, tmp_path / "mine.csv")
    page.click("[data-pane=b] .pane-title")
    page.reload()
    page.wait_for_selector("html[data-ready=yes]")
    assert asked == ["beforeunload"]
