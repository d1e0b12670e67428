"""A studio that really runs: its command started as a user would, and a browser where one is installed."""

import json
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from pages import Page

pytest.importorskip("fastapi", reason="the studio needs fastapi and uvicorn: make test installs them")
httpx = pytest.importorskip("httpx", reason="the studio's tests need httpx: make test installs it")

START_S = 400


class RunningStudio:
    """A studio in a process of its own."""

    def __init__(self, process, address, folder):
        self.process = process
        self.address = address
        self.folder = folder
        self.base, _, self.token = address.partition("/?token=")
        self.host = self.base.removeprefix("http://")
        self.port = int(self.host.rpartition(":")[2])

    def client(self, **headers):
        """A client that knows the token."""
        return httpx.Client(
            base_url=self.base, headers={"Authorization": f"Bearer {self.token}", **headers}, timeout=600
        )

    def tab(self):
        """A new session with ways to use it."""
        return Tab(self.client())


class Tab:
    """One session."""

    def __init__(self, client):
        self.client = client
        self.id = client.post("/api/sessions").json()["id"]
        self.base = f"/api/sessions/{self.id}"

    def get(self, path, **options):
        return self.client.get(self.base + path, **options)

    def post(self, path, body=None, **options):
        return self.client.post(self.base + path, json=body, **options)

    def put(self, path, body):
        return self.client.put(self.base + path, json=body)

    def upload(self, path, data, name):
        return self.client.post(self.base + path, params={"name": name}, content=data)

    def example(self, name):
        answer = self.post("/points/example", {"name": name})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def events(self, job):
        """What happens in a job, to its end."""
        with self.client.stream("GET", f"{self.base}/jobs/{job}/events") as stream:
            for line in stream.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line[5:])

    def job(self, path, body=None):
        """Start a job and wait for its last event."""
        answer = self.post(path, body)
        assert answer.status_code == 202, answer.text
        return list(self.events(answer.json()["id"]))[-1]

    def fit(self, pane="a", hold=False, **method):
        """A finished clustering."""
        event = self.job("/runs", {"pane": pane, "method": method, "hold": hold})
        assert event["kind"] == "done", event
        return event["result"]["run"]


@contextmanager
def running(command, folder):
    """Start a studio by a command; it is ended afterwards, whatever happens."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    env = {**os.environ, "TMPDIR": str(folder / "tmp"), "XDG_DATA_HOME": str(folder / "data")}
    source = str(Path(__file__).parents[2] / "src")
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [source, env.get("PYTHONPATH")]))
    process = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)
    said = []
    found = threading.Event()

    def listen():
        for line in process.stderr:
            said.append(line)
            if "token=" in line:
                found.set()
        found.set()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        assert found.wait(START_S), "the studio did not start"
        address = re.search(r"http://\S+", "".join(said))
        assert address, "".join(said)
        studio = RunningStudio(process, address.group(0), folder)
        studio.said = said
        yield studio
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        # Worker processes hold the other end of the pipe until they, too, are gone.
        listener.join(30)
        process.stderr.close()


def command(*arguments):
    return [sys.executable, "-m", "evencut", "studio", "--no-browser", *arguments]


def with_limits(port, **limits):
    """The command of a studio with other limits, which no option sets."""
    script = (
        "import sys\n"
        "from evencut.studio.options import Limits, Options\n"
        "from evencut.studio.serve import serve\n"
        f"options = Options(port={port}, workers=1, limits=Limits(**{limits!r}))\n"
        "def tell(address): print(address, file=sys.stderr, flush=True)\n"
        "serve(options, exactly=False, open_browser=False, tell=tell)\n"
    )
    return [sys.executable, "-c", script]


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """A studio as the command starts it."""
    with running(command(), tmp_path_factory.mktemp("studio")) as started:
        yield started


@pytest.fixture
def tab(studio):
    """A new session of that studio."""
    opened = studio.tab()
    yield opened
    opened.client.delete(opened.base)
    opened.client.close()


@pytest.fixture
def opened(browser, studio):
    page = Page(browser, studio, accept_downloads=True)
    yield page
    expected, page.expected = getattr(page, "expected", []), None
    wrong = [text for text in page.wrong if not any(part in text for part in expected)]
    heaviest = max(page.replies, default=(0, ""))
    page.context.close()
    assert not wrong, wrong
    assert heaviest[0] <= 200_000, heaviest
