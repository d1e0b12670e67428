"""Access: every request is checked here first.

Refuses foreign Host and Origin headers (so that no other page can reach the studio through the browser), asks for the
token, bounds the body, and puts a strict content policy on every answer. The token comes in the address of the page,
which keeps it for its own origin, and in a header of everything the page asks; never in a cookie, since every port of
a host receives those.
"""

from __future__ import annotations

import ipaddress
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import MutableHeaders
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from .options import Options, TooLarge

#: Sent with every answer: nothing is loaded from elsewhere, no script or style stands in the page itself.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_SAFE_METHODS = ("GET", "HEAD")
_METHODS = (*_SAFE_METHODS, "POST", "PUT", "DELETE")
_UPLOADS = ("/points/upload", "/photo/upload", "/project/upload", "/selection")
# Files of the package, the same for everyone.
_OPEN = ("/static/", "/favicon.ico")


class Guard:
    """ASGI middleware around the whole studio."""

    def __init__(self, app: Any, options: Options):
        self.app = app
        self.options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in, or answer it here."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(scope, receive, send, *refusal)
            return
        if not (self._is_known(scope, headers) or scope["path"].startswith(_OPEN)):
            page = scope["path"] == "/" and "text/html" in headers.get("accept", "")
            # A browser that comes again without the token may have kept it: the page that asks looks for it.
            again = page and b"token=" not in scope["query_string"]
            await _answer(scope, receive, send, 200 if again else 403, _NO_TOKEN, page=page)
            return
        await self.app(scope, self._bounded(scope, headers, receive), _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if [name for name, _ in scope["headers"]].count(b"host") != 1 or not self._is_own(headers["host"]):
            return 421, f"the host {headers.get('host', '')[:80]!r} is not this studio; open the address it printed."
        origin = headers.get("origin")
        if origin is not None and not (origin.startswith("http://") and self._is_own(origin[len("http://") :])):
            return 403, f"requests from {origin[:80]!r} are refused; use the studio's own page."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "requests from other sites are refused; open the studio's address itself."
        if scope["method"] not in _METHODS:
            return 405, f"{scope['method'][:20]} is not a method of the studio; it knows {', '.join(_METHODS)}."
        if scope["method"] not in _SAFE_METHODS and origin is None and "authorization" not in headers:
            return 403, "what changes something must come from the page, or carry 'Authorization: Bearer TOKEN'."
        length = headers.get("content-length")
        if length is not None and not length.isdecimal():
            return 400, "the Content-Length header is not a number."
        if length is not None and int(length) > self._largest_body(scope["path"]):
            return 413, self._too_large(scope["path"])
        return None

    def _is_own(self, host: str) -> bool:
        """Whether the name is ours: another page may point its name at this machine, but not these."""
        name, _, port = host.rpartition(":")
        if not port.isdecimal() or int(port) != self.options.port:
            return False
        name = name.strip("[]").lower()
        if name in ("127.0.0.1", "localhost", "::1", self.options.host.lower()):
            return True
        return self.options.allow_remote and _is_address(name)

    def _is_known(self, scope: Scope, headers: dict[str, str]) -> bool:
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        if credentials:
            return scheme.lower() == "bearer" and self._matches(credentials.strip())
        if scope["path"] == "/" and scope["method"] == "GET":  # the page takes the token out of its address
            return self._matches(dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", ""))
        return False

    def _matches(self, token: str) -> bool:
        return secrets.compare_digest(token.encode("utf-8", "replace"), self.options.token.encode())

    def _bounded(self, scope: Scope, headers: dict[str, str], receive: Receive) -> Receive:
        """Count what comes in, for bodies that do not say how long they are."""
        largest = self._largest_body(scope["path"])
        n_bytes = 0

        async def counted() -> Message:
            nonlocal n_bytes
            message = await receive()
            if message["type"] == "http.request":
                n_bytes += len(message.get("body", b""))
                if n_bytes > largest:
                    raise TooLarge(self._too_large(scope["path"]))
            return message

        return counted

    def _largest_body(self, path: str) -> int:
        limits = self.options.limits
        if path.endswith("/photo/upload"):
            return limits.photo_bytes
        if path.endswith(_UPLOADS):
            return limits.table_bytes
        return limits.json_bytes

    def _too_large(self, path: str) -> str:
        largest = self._largest_body(path)
        return f"this is more than the {largest / 1e6:.4g} MB taken here; send fewer rows or a smaller photo."


_NO_TOKEN = "this studio asks for its token; open the address that `evencut studio` printed."


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            # The browser checks the page's files every time; everything else is the user's and not stored.
            cached = {"cache-control": "no-cache" if "etag" in headers else "no-store"}
            for name, value in (HEADERS | cached).items():
                headers.setdefault(name, value)
        await send(message)

    return sending


_ASKING_PAGE = Path(__file__).parent / "static" / "enter.html"


async def _answer(scope: Scope, receive: Receive, send: Send, status: int, detail: str, page: bool = False) -> None:
    # What is refused is not read to its end, and keeps no connection.
    headers = {"connection": "close"} if status >= 400 else {}
    response: Response = JSONResponse({"detail": detail}, status, headers)
    if page:  # for visitors without the token
        response = FileResponse(_ASKING_PAGE, status, headers)
    await response(scope, receive, _with_headers(send))
