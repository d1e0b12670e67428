"""A slow network for a Dask cluster on one machine: loaded into each process, it delays and counts every message.

The delay and the rate come from EVENCUT_DELAY_S (seconds a message) and EVENCUT_BYTES_PER_S (0: no limit).
"""

from __future__ import annotations

import asyncio
import os

from distributed.comm.tcp import TCP

__all__ = ["install", "sent"]

#: Messages and bytes this process has sent.
sent = {"messages": 0, "bytes": 0}

_write = TCP.write


async def _slow_write(self, msg, serializers=None, on_error="message"):
    n_bytes = await _write(self, msg, serializers=serializers, on_error=on_error)
    sent["messages"] += 1
    sent["bytes"] += n_bytes
    rate = float(os.environ.get("EVENCUT_BYTES_PER_S", "0"))
    delay = float(os.environ.get("EVENCUT_DELAY_S", "0")) + (n_bytes / rate if rate else 0.0)
    if delay:
        await asyncio.sleep(delay)
    return n_bytes


def install():
    """Put the delay into this process."""
    TCP.write = _slow_write


def dask_setup(worker):
    """What Dask calls when a worker loads this file."""
    install()
