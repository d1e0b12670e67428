"""Shared fixtures: random numbers of its own for every test, and the folder of real data, where it is to be had."""

import os
from pathlib import Path

# Lets scikit-learn's suite run its array API check instead of skipping it; read when scipy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _no_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not add lines to what a command says; the tests of these lines bring their own limit."""
    monkeypatch.setattr("evencut.cli.console._SLOW_SECONDS", 1e6)


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same whatever ran before."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of research data, which the project does not contain."""
    folder = os.environ.get("EVENCUT_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real data sets are absent; set EVENCUT_DATA to their folder")
    return Path(folder)
