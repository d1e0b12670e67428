"""What the examples in the docstrings need: those of tensors are left out where torch is not installed.

Examples run plain torch: Triton's interpreter, which the tests of the fused kernels ask for, would take minutes.
"""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from unittest import mock

import pytest

# Kernels have no examples, and must not be loaded before their tests have chosen between compiler and interpreter.
collect_ignore_glob = ["src/evencut/gpu/_*_triton.py"]
# What is imported of compiled loops is not their source; their own test runs their examples.
collect_ignore_glob += ["src/evencut/*/_*loops.py"]
if not find_spec("torch"):
    collect_ignore_glob += ["src/evencut/gpu/*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the examples of tensors where torch is not installed."""
    if not find_spec("torch"):
        items[:] = [item for item in items if not (isinstance(item, pytest.DoctestItem) and _needs_torch(item))]


def _needs_torch(item: pytest.DoctestItem) -> bool:
    return any("import torch" in example.source for example in item.dtest.examples)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Take the interpreter away for as long as an example runs."""
    if not isinstance(item, pytest.DoctestItem):
        return (yield)
    with mock.patch.dict(os.environ):
        os.environ.pop("TRITON_INTERPRET", None)
        return (yield)
