"""`evencut studio` as a command: what it says no to, the files it is given, and what the package carries for it."""

import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import KMeans

import evencut.studio
from conftest import command, running
from evencut import EvenCut, KernelClustering, KernelKMeans, NormalizedCut
from evencut.cli import main
from evencut.kernels import KNN, Gaussian
from evencut.studio.guard import Guard
from evencut.studio.methods import cure_of
from evencut.studio.options import Limits, Options, RequestError
from evencut.studio.pool import WorkerPool
from evencut.studio.sessions import SessionStore


def refused(capsys, *arguments):
    """What the command says when it leaves with 2."""
    with pytest.raises(SystemExit) as left:
        main(["studio", "--no-browser", *arguments])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_other_machines_need_a_word(capsys):
    said = refused(capsys, "--host", "0.0.0.0")
    assert "--allow-remote" in said
    assert "nothing is encrypted" in said


def test_files_must_be_there(capsys, tmp_path):
    assert "does not exist" in refused(capsys, str(tmp_path / "none.csv"))
    assert "is a folder" in refused(capsys, str(tmp_path))
    assert "--port 99999 is out of range" in refused(capsys, "--port", "99999")


def test_the_page_is_served_before_the_libraries_of_clustering_are_loaded():
    script = """
import asyncio, sys
import httpx
import evencut.cli.studio, evencut.studio.serve
from evencut.studio import Options, create_app
async def page():
    app = create_app(Options(port=8765, token="secret"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8765") as client:
        return [(await client.get(path)).status_code for path in ("/?token=secret", "/static/js/main.js")]
print(asyncio.run(page()), sorted({"sklearn", "scipy", "pandas", "pyarrow"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[200, 200] []"


def test_a_port_that_is_taken_is_named(capsys, studio):
    assert f"port {studio.port} of 127.0.0.1 is taken" in refused(capsys, "--port", str(studio.port))


def test_files_of_the_command_line_are_opened_by_number(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    np.save(tmp_path / "points.npy", X)
    # Sockets cannot lie in a folder of so long a name: processes are then started in another way.
    home = tmp_path / ("a long name " * 10)
    with running(command(str(tmp_path / "points.npy"), "--workers", "1"), home) as studio:
        with studio.client() as client:
            assert client.get("/api/about").json()["files"] == ["points.npy"]
        tab = studio.tab()
        loaded = tab.post("/points/given", {"index": 0})
        assert loaded.status_code == 201
        assert loaded.json()["n_rows"] == 50
        assert str(tmp_path) not in loaded.text
        tab.client.close()


def test_ctrl_c_ends_everything(tmp_path):
    with running(command("--workers", "1"), tmp_path) as studio:
        studio.process.send_signal(2)
        assert studio.process.wait(30) == 130
        assert not [line for line in studio.said if "Traceback" in line]


def test_the_page_is_in_the_package_and_asks_nothing_of_others():
    static = Path(evencut.studio.__file__).parent / "static"
    pages = [path for path in static.rglob("*") if path.is_file()]
    assert {path.suffix for path in pages} == {".html", ".js", ".css", ".svg"}
    for path in pages:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/", "")
        assert "http://" not in text, path.name
        assert "https://" not in text, path.name
        assert text.count("\n") <= 450, path.name
    markup = "".join(path.read_text(encoding="utf-8") for path in pages if path.suffix == ".html")
    assert "<script>" not in markup
    # Modules are asked for at once, not one after the other as imports are found.
    for path in pages:
        assert path.suffix != ".js" or f"/static/js/{path.name}" in markup, path.name
    assert "style=" not in markup
    assert "onclick" not in markup


def test_without_its_libraries_the_command_says_what_to_install(tmp_path):
    script = (
        "import sys\nsys.modules['fastapi'] = None\nfrom evencut.cli import main\nmain(['studio', '--no-browser'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert 'pip install "evencut[studio]"' in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (
            KernelClustering(3, kernel="knn", equalize="exact"),
            {"tool": "kernel", "n_clusters": 3, "kernel": "knn", "equalize": "exact"},
        ),
        (
            KernelKMeans(2, kernel=Gaussian(0.5)),
            {"kernel": "gaussian", "parameters": {"bandwidth": 0.5}, "criterion": "average_association"},
        ),
        (NormalizedCut(4, kernel=KNN(12), scale="standard"), {"parameters": {"n_neighbors": 12}, "scale": "standard"}),
        (EvenCut("auto", random_state=7), {"tool": "evencut", "n_clusters": "auto", "seed": 7}),
    ],
    ids=str,
)
def test_an_advised_model_becomes_choices(model, expected):
    choices = cure_of(model).model_dump()
    assert {name: choices[name] for name in expected} == expected


def test_estimators_that_the_page_cannot_show_become_nothing():
    assert cure_of(KMeans(2)) is None
    assert cure_of(None) is None


@pytest.mark.parametrize(
    "model", [EvenCut(2, metric="cosine"), KernelClustering(2, kernel="precomputed"), EvenCut(5000)], ids=str
)
def test_what_the_page_cannot_show_becomes_nothing(model):
    assert cure_of(model) is None


def test_sessions_expire_and_take_their_data_along():
    store = SessionStore(Limits(session_s=0.0))
    session = store.create()
    time.sleep(0.01)
    with pytest.raises(RequestError) as gone:
        store.get(session.id)
    assert gone.value.status == 404
    assert len(store) == 0


def test_remote_studios_still_refuse_foreign_names():
    guard = Guard(None, Options(host="0.0.0.0", port=80, token="t", allow_remote=True))
    assert guard._is_own("192.168.1.5:80")
    assert guard._is_own("[fe80::1]:80")
    assert not guard._is_own("rebind.example:80")
    assert not guard._is_own("192.168.1.5:81")


def test_a_task_goes_to_the_process_that_worked_on_its_data_last():
    pool = WorkerPool(4)
    first, second, third, bare = (SimpleNamespace(kept=kept) for kept in ({"a": None}, {"a": None}, {"b": None}, {}))
    pool._idle = [bare, first, second, third]
    # In a thread: the browser of other tests may have a loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        asked = [pool._lend(keep) for keep in ({"a": 1}, {"c": 1}, {"a": 1, "b": 1})]
        lent = [thread.submit(asyncio.run, one).result() for one in asked]
    assert lent == [second, bare, third]
    assert pool._idle == [first]
