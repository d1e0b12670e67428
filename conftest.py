"""What the examples in the docstrings need: those of tensors are left out where torch is not installed."""

from importlib.util import find_spec

collect_ignore_glob = (
    [] if find_spec("torch") else ["src/evencut/gpu/*.py", "src/evencut/*/on_device.py", "src/evencut/*/device_*.py"]
)
