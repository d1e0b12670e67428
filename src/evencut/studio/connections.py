"""Connections that say nothing are closed: after a while, and at once where there are many of them."""

from __future__ import annotations

import asyncio
from typing import Any

_HEADERS_S = 10.0
_MOST_SILENT = 40


def impatient_protocol() -> type[Any]:
    """The HTTP protocol of the server: a client has ten seconds for the head of its request.

    Of the connections whose request has not come yet only the newest are kept, so that nobody locks others out by
    opening many.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    silent: dict[Any, asyncio.TimerHandle] = {}

    class _Impatient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            silent[self] = asyncio.get_running_loop().call_later(_HEADERS_S, self._hang_up)
            while len(silent) > _MOST_SILENT:
                next(iter(silent))._hang_up()

        def handle_events(self) -> None:
            super().handle_events()
            if self.cycle is not None:
                self._has_spoken()

        def connection_lost(self, exc: Exception | None) -> None:
            self._has_spoken()
            super().connection_lost(exc)

        def _has_spoken(self) -> None:
            timer = silent.pop(self, None)
            if timer is not None:
                timer.cancel()

        def _hang_up(self) -> None:
            self._has_spoken()
            self.transport.close()

    return _Impatient
