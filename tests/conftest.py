"""Shared fixtures: the command line; random numbers for each test; real data and a browser, where there are any."""

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# Lets scikit-learn's suite run its array API check instead of skipping it; read when scipy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Headless, without graphics hardware, and silent towards the network.
BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(autouse=True)
def _no_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not add lines to what a command says; the tests of these lines bring their own limit."""
    monkeypatch.setattr("evencut.cli.console._SLOW_SECONDS", 1e6)


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same whatever ran before."""
    return np.random.default_rng(0)


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., SimpleNamespace]:
    """The command line in an empty folder: gives its exit code and what it wrote."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: str | None = None) -> SimpleNamespace:
        from evencut.cli import main

        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return SimpleNamespace(code=left.value.code, out=captured.out, err=captured.err)

    return run


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of research data, which the project does not contain."""
    folder = os.environ.get("EVENCUT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real data sets are absent; set EVENCUT_DATA to their folder")
    return Path(folder)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright."""
    api = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright: make test installs it")
    program = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("browser tests need Chromium: apt-get install chromium")
    with api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=BROWSER_FLAGS)
        yield started
        started.close()
