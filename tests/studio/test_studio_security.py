"""Hostile requests and uploads: each is refused with the right status, and nothing is written anywhere."""

import io
import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np
import pytest

from conftest import running, with_limits

pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A studio with small limits, watched for anything that appears on disk."""
    limits = {
        "table_bytes": 4_000_000,
        "photo_bytes": 2_000_000,
        "rows": 50_000,
        "columns": 100,
        "cells": 1_000_000,
        "pixels": 4_000_000,
        "sessions": 30,
        "upload_idle_s": 1.5,
        "upload_wait_s": 30.0,
    }
    with running(with_limits(8865, **limits), tmp_path_factory.mktemp("guarded")) as studio:
        first = studio.tab()
        first.example("moons")
        first.fit()  # from here on the workers have the socket they are started by, the only file of a studio
        first.client.delete(first.base)
        first.client.close()
        yield studio


@pytest.fixture
def unwritten(guarded):
    """Fails the test that leaves a file behind."""
    before = sorted(guarded.folder.rglob("*"))
    yield guarded
    assert sorted(guarded.folder.rglob("*")) == before
    assert not [line for line in guarded.said if "Traceback" in line], "".join(guarded.said)


@pytest.fixture
def victim(unwritten):
    tab = unwritten.tab()
    yield tab
    tab.client.delete(tab.base)
    tab.client.close()


def cookie(studio):
    return {"Cookie": f"evencut_studio_{studio.port}={studio.token}"}


def bearer(studio):
    return {"Authorization": f"Bearer {studio.token}"}


# ---- requests: (status, method, path, headers made from the studio, body) ----

REQUESTS = {
    "no token": (403, "GET", "/api/about", lambda s: {}, None),
    "the page without a token": (403, "GET", "/", lambda s: {}, None),
    "a wrong token in the address": (403, "GET", "/?token=guess", lambda s: {}, None),
    "an empty token": (403, "GET", "/?token=", lambda s: {}, None),
    "a wrong cookie": (403, "GET", "/api/about", lambda s: {"Cookie": f"evencut_studio_{s.port}=guess"}, None),
    "a cookie of another port": (403, "GET", "/api/about", lambda s: {"Cookie": f"evencut_studio_1={s.token}"}, None),
    "a broken cookie": (403, "GET", "/api/about", lambda s: {"Cookie": "evencut\x01=;;;="}, None),
    "a wrong bearer": (403, "GET", "/api/about", lambda s: {"Authorization": "Bearer guess"}, None),
    "another scheme": (403, "GET", "/api/about", lambda s: {"Authorization": f"Basic {s.token}"}, None),
    "a foreign host": (421, "GET", "/api/about", lambda s: {**bearer(s), "Host": "evil.example"}, None),
    "a host that resolves here": (
        421,
        "GET",
        "/api/about",
        lambda s: {**bearer(s), "Host": f"rebind.example:{s.port}"},
        None,
    ),
    "a host of another port": (421, "GET", "/api/about", lambda s: {**bearer(s), "Host": "127.0.0.1:1"}, None),
    "an address that is not ours": (
        421,
        "GET",
        "/api/about",
        lambda s: {**bearer(s), "Host": f"10.0.0.1:{s.port}"},
        None,
    ),
    "a foreign origin": (
        403,
        "POST",
        "/api/sessions",
        lambda s: {**cookie(s), "Origin": "http://evil.example"},
        b"",
    ),
    "the origin null": (403, "POST", "/api/sessions", lambda s: {**cookie(s), "Origin": "null"}, b""),
    "an origin of another port": (
        403,
        "POST",
        "/api/sessions",
        lambda s: {**cookie(s), "Origin": "http://127.0.0.1:1"},
        b"",
    ),
    "an origin of another scheme": (
        403,
        "POST",
        "/api/sessions",
        lambda s: {**cookie(s), "Origin": f"https://127.0.0.1:{s.port}"},
        b"",
    ),
    "a foreign origin that only reads": (
        403,
        "GET",
        "/api/about",
        lambda s: {**bearer(s), "Origin": "http://evil.example"},
        None,
    ),
    "a cookie without an origin": (403, "POST", "/api/sessions", lambda s: cookie(s), b""),
    "another site": (403, "GET", "/api/about", lambda s: {**cookie(s), "Sec-Fetch-Site": "cross-site"}, None),
    "a sister site": (403, "GET", "/api/about", lambda s: {**cookie(s), "Sec-Fetch-Site": "same-site"}, None),
    "TRACE": (405, "TRACE", "/api/about", bearer, None),
    "OPTIONS": (405, "OPTIONS", "/api/about", bearer, None),
    "PATCH": (405, "PATCH", "/api/about", bearer, b"{}"),
    "a folder": (404, "GET", "/static/", bearer, None),
    "a folder below": (404, "GET", "/static/js/", bearer, None),
    "a way up": (404, "GET", "/static/../app.py", bearer, None),
    "a hidden way up": (404, "GET", "/static/%2e%2e/app.py", bearer, None),
    "a twice hidden way up": (404, "GET", "/static/%252e%252e%252fapp.py", bearer, None),
    "a way up with backslashes": (404, "GET", "/static/..%5capp.py", bearer, None),
    "a path of the system": (404, "GET", "/static//etc/passwd", bearer, None),
    "python code of the package": (404, "GET", "/static/app.py", bearer, None),
    "the documentation of the framework": (404, "GET", "/docs", bearer, None),
    "an unknown session": (404, "GET", "/api/sessions/guess", bearer, None),
    "a session with a way up": (404, "GET", "/api/sessions/..%2f..%2fabout", bearer, None),
    "a long body": (413, "PUT", "/api/sessions/guess/page", bearer, b"[" * 1_100_000),
}


def ask(studio, method, path, headers, body):
    with httpx.Client(timeout=30) as client:
        request = client.build_request(method, studio.base, headers=headers, content=body)
        # The path as it is: a client would tidy it up.
        request.url = httpx.URL(studio.base).copy_with(raw_path=path.encode())
        return client.send(request)


@pytest.mark.parametrize("name", REQUESTS)
def test_hostile_requests_are_refused(unwritten, name):
    status, method, path, headers, body = REQUESTS[name]
    answer = ask(unwritten, method, path, headers(unwritten), body)
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"]
    assert unwritten.token not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


BODIES = {
    "a path instead of a number": ("/points/given", {"index": "/etc/passwd"}, 422),
    "a path beside a number": ("/points/given", {"index": 0, "path": "/etc/passwd"}, 422),
    "a file that was not given": ("/points/given", {"index": 0}, 404),
    "a photo that was not given": ("/photo/given", {"index": 3}, 404),
    "an example that is a path": ("/points/example", {"name": "../../etc/passwd"}, 404),
    "a kernel that is code": ("/runs", {"method": {"tool": "kernel", "kernel": "__import__('os')"}}, 422),
    "a thousand million clusters": ("/runs", {"method": {"n_clusters": 10**9}}, 422),
    "minus one cluster": ("/runs", {"method": {"n_clusters": -1}}, 422),
    "an unknown setting": ("/runs", {"method": {"shell": "rm"}}, 422),
    "a bandwidth of nothing": ("/runs", {"method": {"tool": "kernel", "parameters": {"bandwidth": 0}}}, 422),
    "a pane that does not exist": ("/runs", {"pane": "constructor", "method": {}}, 422),
    "a sweep of everything": ("/sweep", {"n_clusters": 10**6}, 422),
    "a column that does not exist": ("/runs/column", {"name": "__class__"}, 404),
    "too many strokes": ("/photo/prompts", {"kind": "stroke", "points": [[1, 1]] * 6000}, 422),
    "a brush as large as a wall": ("/photo/prompts", {"kind": "stroke", "points": [[1, 1]], "radius": 1e9}, 422),
    "a click without a place": ("/photo/prompts", {"kind": "click", "points": []}, 422),
}


@pytest.mark.parametrize("name", BODIES)
def test_hostile_bodies_are_refused(victim, name):
    path, body, status = BODIES[name]
    victim.example("moons")
    answer = victim.post(path, body)
    assert answer.status_code == status, answer.text
    assert len(answer.text) < 1000


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[[[[" * 20_000,
        b'{"method": {"parameters": {"bandwidth": NaN}}}',
        b'{"method": {"parameters": {"bandwidth": 1e999}}}',
        b"\xff\xfe",
    ],
)
def test_json_that_is_none_is_refused(victim, body):
    headers = {"content-type": "application/json"}
    answer = victim.client.post(f"{victim.base}/runs", content=body, headers=headers)
    assert answer.status_code in (400, 422), answer.text


# ---- uploads ----


class Attack:
    """Runs code when a pickle of it is read."""

    def __reduce__(self):
        return (open, ("pwned", "w"))


def npy(header, body=b""):
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def saved(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def parquet(table, **options):
    import pyarrow.parquet

    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, **options)
    return file.getvalue()


def png(width, height, body=b"\x00" * 100):
    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(body)) + part(b"IEND", b"")


def image(kind, size=(64, 64), **options):
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", size, (10, 200, 30)).save(file, kind, **options)
    return file.getvalue()


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(10**8))
    return file.getvalue()


def object_array():
    return np.array([Attack()], dtype=object)


TABLES = {
    "a pickled array": ("p.npy", lambda: saved(object_array(), allow_pickle=True), 400, "pickled"),
    "a bare pickle": ("p.npy", lambda: pickle.dumps(Attack()), 400, "header"),
    "an array that claims to be huge": (
        "p.npy",
        lambda: npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }"),
        413,
        "rows",
    ),
    "an array of a negative shape": (
        "p.npy",
        lambda: npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-5, 2), }"),
        400,
        "",
    ),
    "an array cut off": ("p.npy", lambda: saved(np.ones((100, 3)))[:-50], 400, "cut off"),
    "a header with code": ("p.npy", lambda: npy("__import__('os').system('touch pwned')"), 400, "header"),
    "a header of a megabyte": (
        "p.npy",
        lambda: b"\x93NUMPY\x02\x00" + struct.pack("<I", 10**6) + b" " * 10**6,
        400,
        "",
    ),
    "an array of records": ("p.npy", lambda: saved(np.zeros(9, dtype=[("a", "f8"), ("b", "i4")])), 400, "not numbers"),
    "an array of text": ("p.npy", lambda: saved(np.array(["a"] * 9)), 400, "not numbers"),
    "an array of five dimensions": ("p.npy", lambda: saved(np.ones((3, 1, 1, 1, 2))), 400, "shape"),
    "an archive that unpacks to 100 MB": ("p.npz", zipped, 415, "its name must end"),
    "an archive named CSV": ("p.csv", zipped, 400, ""),
    "a program": ("p.exe", lambda: b"MZ", 415, "its name must end"),
    "no suffix": ("passwd", lambda: b"1,2\n3,4\n", 415, "its name must end"),
    "nothing": ("p.csv", lambda: b"", 400, "empty"),
    "zero bytes": ("p.csv", lambda: b"x,y\n1,\x002\n", 400, "zero bytes"),
    "bytes that are no text": ("p.csv", lambda: b"\xff\xfe\x80,1\n2,3\n", 400, "UTF-8"),
    "one line of a megabyte": ("p.csv", lambda: b"1" * 10**6, 400, "first line"),
    "too many columns": ("p.csv", lambda: b",".join([b"1"] * 200) + b"\n", 413, "columns"),
    "too many rows": ("p.csv", lambda: b"1,2\n" * 60_000, 413, "rows"),
    "rows of unlike length": ("p.csv", lambda: b"x,y\n1,2\n3\n4,5\n", 400, "line 3"),
    "a quote that never ends": ("p.csv", lambda: b'x,y\n"1,2\n3,4\n5,6\n' * 50, 400, ""),
    "a name of a kilobyte": ("p.csv", lambda: b"x" * 1000 + b",y\n1,2\n3,4\n5,6\n", 400, "letters"),
    "only text": ("p.csv", lambda: b"x,y\na,b\nc,d\ne,f\n", 400, "no column of numbers"),
    "garbage named Parquet": ("p.parquet", lambda: b"PAR1" + b"\x00" * 1000 + b"PAR1", 400, "Parquet"),
    "a Parquet file that unpacks to 16 MB": (
        "p.parquet",
        lambda: parquet(
            pyarrow.table({f"c{i}": np.zeros(49_000) for i in range(40)}), compression="zstd", use_dictionary=False
        ),
        413,
        "values",
    ),
    "a Parquet file of too many rows": (
        "p.parquet",
        lambda: parquet(pyarrow.table({"x": np.zeros(10**6)}), compression="zstd"),
        413,
        "rows",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_hostile_tables_are_refused(victim, name):
    file, make, status, word = TABLES[name]
    answer = victim.upload("/points/upload", make(), file)
    assert answer.status_code == status, answer.text
    assert word in answer.json()["detail"]
    assert victim.get("").json()["points"] is None


PHOTOS = {
    "a drawing with a script": (
        "p.svg",
        lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
        415,
    ),
    "a drawing named PNG": ("p.png", lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", 415),
    "a page named JPEG": ("p.jpg", lambda: b"<html><script>alert(1)</script></html>", 415),
    "a PostScript program": ("p.eps", lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nquit\n", 415),
    "a moving picture": ("p.gif", lambda: image("GIF"), 415),
    "a bitmap": ("p.bmp", lambda: image("BMP"), 415),
    "two thousand million pixels": ("p.png", lambda: png(50_000, 50_000), 413),
    "sixteen million pixels": ("p.png", lambda: png(4_000, 4_000), 413),
    "a photo of one pixel": ("p.png", lambda: image("PNG", (1, 1)), 400),
    "a photo cut off": ("p.png", lambda: image("PNG", (200, 200))[:200], 400),
    "a photo with a wrong checksum": ("p.png", lambda: png(50, 50)[:-30] + b"\x00" * 30, 415),
    "a damaged JPEG": ("p.jpg", lambda: image("JPEG")[:100], 400),
    "nothing": ("p.png", lambda: b"", 415),
    "a damaged TIFF": ("p.tif", lambda: b"II*\x00" + b"\xff" * 200, 415),
}


@pytest.mark.parametrize("name", PHOTOS)
def test_hostile_photos_are_refused(victim, name):
    pytest.importorskip("PIL")
    file, make, status = PHOTOS[name]
    answer = victim.upload("/photo/upload", make(), file)
    assert answer.status_code == status, answer.text
    assert victim.get("").json()["photo"] is None


def test_names_of_uploads_are_never_paths(victim):
    data = b"x,y\n1,2\n3,4\n5,6\n"
    for name in ("../../../tmp/evil.csv", "/etc/passwd.csv", "..\\evil.csv", "a/b/c.csv"):
        loaded = victim.upload("/points/upload", data, name)
        assert loaded.status_code == 201
        assert "/" not in loaded.json()["name"]


def test_text_of_strangers_comes_back_as_data(victim):
    name = "<img src=x onerror=alert(1)>"
    victim.upload("/points/upload", f'x,y,"{name}"\n1,2,3\n4,5,6\n7,8,9\n'.encode(), "p.csv")
    answer = victim.get("/points/rows/0")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    run = victim.fit(tool="kernel", kernel="knn")
    report = victim.get(f"/runs/{run['id']}/report.html")
    assert "attachment" in report.headers["content-disposition"]
    assert "<img" not in report.text


# ---- raw bytes ----


def raw(studio, data, wait=10.0):
    """What comes back for bytes that no client would send."""
    with socket.create_connection(("127.0.0.1", studio.port), timeout=wait) as line:
        try:
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            answer = b""
            while part := line.recv(65536):
                answer += part
        except (ConnectionResetError, BrokenPipeError, TimeoutError):
            pass
    return answer


@pytest.mark.parametrize(
    ("name", "lines", "statuses"),
    [
        ("no host", "GET /api/about HTTP/1.1\r\n{bearer}\r\n", (400, 421)),
        ("no host, old protocol", "GET /api/about HTTP/1.0\r\n{bearer}\r\n", (421,)),
        ("two hosts", "GET /api/about HTTP/1.1\r\nHost: {host}\r\nHost: evil\r\n{bearer}\r\n", (400, 421)),
        ("no request", "hello\r\n\r\n", (400,)),
        ("a header of 100 kB", "GET / HTTP/1.1\r\nHost: {host}\r\nX: " + "a" * 100_000 + "\r\n\r\n", (400, 403, 431)),
        (
            "a length that is no number",
            "POST /api/sessions HTTP/1.1\r\nHost: {host}\r\n{bearer}Content-Length: x\r\n\r\n",
            (400,),
        ),
        (
            "a negative length",
            "POST /api/sessions HTTP/1.1\r\nHost: {host}\r\n{bearer}Content-Length: -1\r\n\r\n",
            (400,),
        ),
        (
            "two lengths",
            "POST /api/sessions HTTP/1.1\r\nHost: {host}\r\n{bearer}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"
            "\r\n0\r\n\r\n",
            (201, 400),
        ),
        (
            "a socket",
            "GET /api/about HTTP/1.1\r\nHost: {host}\r\n{bearer}Connection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
            (200, 403, 400, 426),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_raw_bytes_are_refused(unwritten, name, lines, statuses):
    text = lines.format(host=unwritten.host, bearer=f"Authorization: Bearer {unwritten.token}\r\n")
    answer = raw(unwritten, text.encode())
    assert answer, "the connection was closed without an answer"
    assert int(answer.split()[1]) in statuses, answer[:300]
    assert b"101 Switching" not in answer


def test_an_upload_that_says_too_much_is_refused_unread(unwritten, victim):
    head = (
        f"POST {victim.base}/points/upload?name=p.csv HTTP/1.1\r\nHost: {unwritten.host}\r\n"
        f"Authorization: Bearer {unwritten.token}\r\nContent-Length: 99999999999\r\n\r\n1,2\n"
    )
    assert raw(unwritten, head.encode()).split()[1] == b"413"


def test_an_upload_without_end_is_refused(unwritten, victim):
    def endless():
        while True:
            yield b"1,2\n" * 20_000

    try:
        answer = victim.client.post(f"{victim.base}/points/upload", params={"name": "p.csv"}, content=endless())
        assert answer.status_code == 413
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        pass  # the door was shut while the stream still ran
    assert victim.get("").json()["points"] is None


def test_an_upload_that_falls_silent_is_dropped(unwritten, victim):
    head = (
        f"POST {victim.base}/points/upload?name=p.csv HTTP/1.1\r\nHost: {unwritten.host}\r\n"
        f"Authorization: Bearer {unwritten.token}\r\nContent-Length: 1000\r\n\r\n1,2\n"
    )
    with socket.create_connection(("127.0.0.1", unwritten.port), timeout=20) as line:
        line.sendall(head.encode())
        assert line.recv(65536).split()[1] == b"408"


def test_sessions_are_bounded(unwritten):
    with unwritten.client() as client:
        made = []
        for _ in range(40):
            answer = client.post("/api/sessions")
            if answer.status_code == 201:
                made.append(answer.json()["id"])
                client.post(f"/api/sessions/{made[-1]}/points/example", json={"name": "moons"})
        assert answer.status_code == 429
        assert len(made) <= 30
        for session in made:
            client.delete(f"/api/sessions/{session}")


def test_no_cookie_carries_the_token(unwritten):
    page = httpx.get(unwritten.address, follow_redirects=False)
    assert page.status_code == 200
    assert "set-cookie" not in page.headers
    assert unwritten.token not in page.text
    assert "<script>" not in page.text
    assert " style=" not in page.text
    kept = {"Cookie": f"evencut_studio_{unwritten.port}={unwritten.token}"}
    assert httpx.get(unwritten.base + "/api/about", headers=kept).status_code == 403


def test_a_wrong_token_gets_a_page_that_says_what_to_do(unwritten):
    html = {"Accept": "text/html,application/xhtml+xml"}
    wrong = httpx.get(unwritten.base + "/?token=guess", headers=html)
    assert wrong.status_code == 403
    assert wrong.headers["content-type"].startswith("text/html")
    assert "evencut studio" in wrong.text
    assert "<script>" not in wrong.text
    # One who comes without any is asked, and let in only by the token that the browser has kept.
    without = httpx.get(unwritten.base + "/", headers=html)
    assert "asks for its token" in without.text
    assert 'id="tab-points"' not in without.text
    assert httpx.get(unwritten.base + "/api/about", headers=html).status_code == 403


def test_silent_connections_lock_nobody_out(unwritten):
    lines = []
    try:
        for _ in range(260):
            lines.append(socket.create_connection(("127.0.0.1", unwritten.port), timeout=20))
        with unwritten.client() as client:
            assert client.get("/api/about").status_code == 200
        # Whoever has said nothing is hung up on, the oldest first.
        lines[0].settimeout(20)
        assert lines[0].recv(1) == b""
    finally:
        for line in lines:
            line.close()


def test_the_browser_is_started_without_the_token(monkeypatch):
    from evencut.studio import serve

    opened = []

    def browser(address):
        path = Path(address.removeprefix("file://"))
        opened.append((address, path.read_text(encoding="utf-8"), path.stat().st_mode & 0o077))

    monkeypatch.setattr(serve, "_READ_S", 0.0)
    serve.show_in_browser("http://127.0.0.1:1/?token=secret", browser)
    ((address, content, others),) = opened
    assert "secret" not in address
    assert "token=secret" in content
    assert others == 0
    assert not Path(address.removeprefix("file://")).exists()


# ---- load ----


def memory(pid):
    """The most memory a process has had, in MB, and the same for those below it."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_a_small_file_that_unpacks_to_gigabytes_is_refused_while_it_grows(studio):
    """Two megabytes of Parquet whose text is long and the same in every row."""
    import pyarrow.parquet

    file = io.BytesIO()
    word = "x" * 20_000
    schema = pyarrow.schema([("x", pyarrow.float64()), ("long", pyarrow.string())])
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for _ in range(100):
            part = {"x": np.arange(2000.0), "long": [word] * 2000}
            writer.write_table(pyarrow.table(part, schema=schema))
    assert len(file.getvalue()) < 4_000_000
    tab = studio.tab()
    answer = tab.upload("/points/upload", file.getvalue(), "bomb.parquet")
    assert answer.status_code in (201, 413), answer.text
    most = max(memory(pid) for pid in below(studio.process.pid))
    assert most < 1600, most  # a process begins with some 300 MB of libraries
    tab.client.delete(tab.base)
    tab.client.close()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the limit counts what Linux counts")
def test_the_system_refuses_more_memory_than_an_upload_may_take():
    script = (
        "from evencut.studio.pool import memory_for_upload\n"
        "with memory_for_upload(50_000_000):\n"
        "    try:\n        kept = bytearray(200_000_000)\n"
        "    except MemoryError:\n        print('refused')\n"
        "kept = bytearray(200_000_000)\nprint('and taken afterwards')\n"
    )
    source = str(Path(__file__).parents[2] / "src")
    run = [sys.executable, "-c", script]
    env = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run(run, env=env, timeout=120, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["refused", "and taken afterwards"]


def below(pid):
    """The processes below one."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_memory_is_bounded_under_fifty_uploads_at_once(unwritten, victim):
    size = 3_900_000
    data = b"x,y\n" + b"a,b\n" * ((size - 4) // 4)  # no numbers: read, then refused
    before = memory(unwritten.process.pid)
    statuses = []

    def send():
        with unwritten.client() as client:
            try:
                answer = client.post(f"{victim.base}/points/upload", params={"name": "p.csv"}, content=data)
                statuses.append(answer.status_code)
            except httpx.HTTPError as error:
                statuses.append(type(error).__name__)

    senders = [threading.Thread(target=send) for _ in range(50)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join(120)
    assert len(statuses) == 50
    assert set(statuses) <= {400, 413, 503}, statuses
    # All at once would be 195 MB; two at a time, with the copies that reading makes, are far less.
    assert memory(unwritten.process.pid) - before < 100
    assert json.loads(victim.get("").text)["points"] is None


def rebuilt(project, change=None, **arrays):
    """A project whose contents somebody has changed by hand."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(project)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            data = old.read(entry)
            if entry == "project.json" and change:
                content = json.loads(data)
                change(content)
                data = json.dumps(content).encode()
            name = entry.rpartition("/")[2].removesuffix(".npy")
            new.writestr(entry, saved(arrays[name]) if name in arrays else data)
    return file.getvalue()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
def test_a_label_of_two_billion_takes_no_memory(unwritten, victim):
    victim.example("moons")
    victim.fit()
    labels = np.zeros(600, np.int64)
    labels[0] = 2_000_000_000
    project = rebuilt(victim.get("/project.evencut").content, labels=labels)
    answer = victim.upload("/project/upload", project, "p.evencut")
    assert answer.status_code == 400
    assert "labels go from 0 to 2000000000" in answer.json()["detail"]
    assert max(memory(pid) for pid in below(unwritten.process.pid)) < 1600


ODD = {
    "names of a page that are a list": lambda content: content["page"].update(points={"names": ["x"]}),
    "a half that is none": lambda content: content["page"].update(half="garage"),
    "methods that are none": lambda content: content["page"].update(points={"methods": {"a": {"tool": "magic"}}}),
    "a report without clusters": lambda content: content["points"]["runs"][0].update(report={"report": {}}),
    "a report that is a word": lambda content: content["points"]["runs"][0].update(report="fine"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_and_reports_of_projects_are_refused(victim, name):
    victim.example("moons")
    run = victim.fit()
    project = victim.get("/project.evencut").content
    answer = victim.upload("/project/upload", rebuilt(project, ODD[name]), "p.evencut")
    assert answer.status_code == 400, answer.text
    assert victim.get(f"/runs/{run['id']}/rows").status_code == 200


@pytest.mark.parametrize("page", [{"points": 3}, {"points": {"names": [1]}}, {"points": {"names": {"x": 1}}}])
def test_odd_pages_of_scripts_break_no_export(victim, page):
    victim.example("moons")
    run = victim.fit()
    victim.put("/page", page)
    for path in (f"/runs/{run['id']}/rows", f"/runs/{run['id']}/report.html", "/project.evencut"):
        assert victim.get(path).status_code == 200


def test_requests_without_the_token_keep_no_connection_and_lock_nobody_out(unwritten):
    lines = []
    try:
        for _ in range(230):
            line = socket.create_connection(("127.0.0.1", unwritten.port), timeout=10)
            line.sendall(f"GET /api/about HTTP/1.1\r\nHost: {unwritten.host}\r\n\r\n".encode())
            answer = line.recv(65536)
            assert b" 403 " in answer and b"connection: close" in answer.lower()
            lines.append(line)
        # Files of the page need no token; connections that wait after them give way as well.
        for line in lines:
            line.close()
        lines.clear()
        for _ in range(230):
            line = socket.create_connection(("127.0.0.1", unwritten.port), timeout=10)
            line.sendall(f"GET /static/icon.svg HTTP/1.1\r\nHost: {unwritten.host}\r\n\r\n".encode())
            line.recv(200)
            lines.append(line)
        with unwritten.client() as owner:
            assert owner.get("/api/about").status_code == 200
    finally:
        for line in lines:
            line.close()


def test_names_and_heads_in_exports_are_no_formulas(victim):
    victim.upload("/points/upload", saved(np.random.default_rng(0).normal(size=(30, 2))), "p.npy")
    run = victim.fit()
    hostile = '=HYPERLINK("http://x","y")'
    victim.put("/page", {"points": {"names": {run["id"]: {"0": hostile, "1": "@sum"}}}})
    text = victim.get(f"/runs/{run['id']}/rows").text
    assert "'=HYPERLINK" in text and ',"=HYPERLINK' not in text and ",=HYPERLINK" not in text
    assert "'@sum" in text


def test_a_workbook_that_unpacks_to_far_more_is_refused_at_once(victim):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"<row/>" * 50_000_000)
    start = time.monotonic()
    answer = victim.upload("/points/upload", file.getvalue(), "p.xlsx")
    assert answer.status_code == 413, answer.text
    assert "unpacks to" in answer.json()["detail"]
    assert time.monotonic() - start < 30


def test_ctrl_c_leaves_no_file_with_the_token(tmp_path):
    from conftest import command

    with running(command("--browser", "--no-autosave"), tmp_path) as studio:
        with studio.client() as client:
            assert client.get("/api/about").status_code == 200
        studio.process.send_signal(signal.SIGINT)
        studio.process.wait(30)
    left = [path for path in (tmp_path / "tmp").rglob("*") if path.is_file()]
    assert not left, left
    assert not (tmp_path / "data").exists()
