"""Where a command runs: on the CPU with arrays, or on a GPU with tensors, once torch and the GPU are found there."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from evencut.cli.errors import UserError

CPU = "cpu"
_CUDA = re.compile(r"cuda(:\d+)?")


def check_device(device: str) -> None:
    """Raise, before anything is read, for a device that is not there.

    Examples
    --------
    >>> check_device("cpu")
    >>> check_device("tpu")
    Traceback (most recent call last):
    evencut.cli.errors.UserError: --device tpu is not known; choose cpu, cuda, or cuda:1 for the second GPU.
    """
    if device == CPU:
        return
    if not _CUDA.fullmatch(device):
        raise UserError(f"--device {device} is not known; choose cpu, cuda, or cuda:1 for the second GPU.")
    if find_spec("torch") is None:
        raise UserError(f"--device {device} needs torch, which is not installed: pip install 'evencut[gpu]'.")
    import torch

    n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    number = int(device.partition(":")[2] or 0)
    if number >= n_devices:
        there = f"only {n_devices} GPU{'' if n_devices == 1 else 's'}" if n_devices else "no GPU"
        raise UserError(f"--device {device} is not there: torch finds {there}; use --device cpu.")


def on_device(X: Any, device: str) -> Any:
    """The points where they are to be clustered: an array for the CPU, a tensor elsewhere."""
    if device == CPU:
        return X
    import torch

    return torch.as_tensor(X).to(device)
