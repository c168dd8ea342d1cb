"""`wireproof serve` as an attacker asks it: other names, other tokens, other methods, other
files.
"""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.served import EVIL, fill, serving

from wireproof.model.errors import BadInput
from wireproof.workflow.reporter import LoggingReporter
from wireproof.workflow.serve import server as module
from wireproof.workflow.serve.server import Server, ServeSpecification, open_server

SECRET = "a line that nobody may read"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("history")
    fill(root)
    (root / "secret").write_text(SECRET)
    with serving(root) as server:
        yield server


def ask(
    server: Server, place: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    try:
        connection.request(method, place, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


def page(server: Server, name: str) -> tuple[int, str]:
    status, _, text = ask(server, f"/{server.token}/{name}")
    return status, text


def said(text: str) -> str:
    return re.sub("<[^>]*>", "", text[text.index('class="card said">') :])


@pytest.mark.parametrize(
    "place", ["/", "/x/", "/x/run?id=again", "//", "/favicon.ico", "/%ff/", "/..%2f..%2fetc/passwd"]
)
def test_without_the_token_there_is_one_sentence_and_nothing_else(
    served: Server, place: str
) -> None:
    """`serve` shows nothing of a history without the token that it has printed, and answers to
    127.0.0.1 alone unless it is told otherwise.
    """
    status, headers, text = ask(served, place)
    assert status == 403
    assert served.server_address[0] == "127.0.0.1"
    assert "This address lacks the right token" in text
    assert str(served.pages.root) not in text
    assert served.token not in text
    assert served.token not in str(headers)
    assert "n007" not in text
    assert "<script" not in text


def test_a_part_of_the_token_is_no_token(served: Server) -> None:
    for token in (served.token[:-1], f"{served.token}x", served.token.swapcase()):
        assert ask(served, f"/{token}/")[0] == 403
    status, headers, _ = ask(served, f"/{served.token}")
    assert (status, headers["Location"]) == (308, f"/{served.token}/")


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "[", "127.1.evil"])
def test_another_name_of_the_host_is_refused(served: Server, host: str) -> None:
    status, _, text = ask(served, f"/{served.token}/", Host=host)
    assert status == 403
    assert "n007" not in text


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "127.0.0.1:1", "[::1]:80"])
def test_a_tunnel_has_another_port(served: Server, host: str) -> None:
    assert ask(served, f"/{served.token}/", Host=host)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "X"])
def test_pages_can_only_be_read(served: Server, method: str) -> None:
    status, headers, _ = ask(served, f"/{served.token}/", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_head_has_no_body(served: Server) -> None:
    status, headers, text = ask(served, f"/{served.token}/", "HEAD")
    assert (status, text) == (200, "")
    assert int(headers["Content-Length"]) > 10_000


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "..%2fsecret",
        "run?id=../secret",
        "run?id=..",
        "run?id=%2e%2e%2fsecret",
        "run?id=again/../../secret",
        "run?id=again%00",
        "compare?a=again&b=../../secret",
        "secret",
        "results/again/run.json",
    ],
)
def test_no_address_becomes_a_path(served: Server, name: str) -> None:
    """No address that `serve` is asked for becomes a path, runs anything or changes anything."""
    status, text = page(served, name)
    assert status == 404
    assert SECRET not in text
    assert "There is no such page" in text or "has no result" in text


@pytest.mark.parametrize("nodes", ["@all", "file:/etc/passwd", "n[1-999999999]", "$(id)", "a;b"])
def test_a_node_set_opens_and_runs_nothing(served: Server, nodes: str) -> None:
    for name in ("nodes", "results"):
        status, text = page(served, f"{name}?nodes={quote(nodes)}")
        assert status == 200
        assert 'role="alert"' in text
        assert "root:x:" not in text


def test_every_page_has_a_policy_that_allows_nothing_but_itself(served: Server) -> None:
    for name in ("", "nodes", "results", "trends", "run?id=again", "nope"):
        _, headers, _ = ask(served, f"/{served.token}/{name}")
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        scripts = re.search("script-src ([^;]*)", policy)
        assert scripts is not None
        assert all(one.startswith("'sha256-") for one in scripts[1].split())
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert "Python" not in headers["Server"]


@pytest.mark.parametrize(
    "name",
    ["", "nodes", f"node?name={quote(EVIL)}", "results", "trends", f"trends?set={quote(EVIL)}"],
)
def test_hostile_words_stay_words(served: Server, name: str) -> None:
    status, text = page(served, name)
    assert status == 200
    assert "<img" not in text
    assert "\u202e" not in text
    assert "onerror=alert(1)" in text


def test_what_is_asked_is_shown_as_text(served: Server) -> None:
    for name in ("nodes?nodes=", "results?nodes=", "run?id=", "trends?set=", "node?name=%3Cb%3E"):
        status, text = page(served, name + quote(EVIL))
        assert status in (200, 404)
        assert "<img" not in text
        assert "<b>&" not in text


def test_too_long_an_address_is_refused(served: Server) -> None:
    assert ask(served, f"/{served.token}/" + "x" * 9000)[0] == 414
    assert ask(served, "/" + "x" * 70_000)[0] == 414
    many = "&".join(f"a{at}=1" for at in range(100))
    assert page(served, f"nodes?{many}")[0] == 404


@pytest.mark.parametrize(
    "sent",
    [b"\r\n", b"garbage\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00\xff\r\n\r\n", b"GET /\r\n"],
)
def test_what_is_no_request_is_answered_shortly(served: Server, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.server_port), timeout=20) as line:
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert b"n007" not in answer
    assert b"Traceback" not in answer


def test_who_keeps_quiet_is_cut_off_and_the_others_are_served(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module._Handler, "timeout", 0.5)
    lines = [
        socket.create_connection(("127.0.0.1", served.server_port), timeout=20)
        for _ in range(module._AT_ONCE + 4)
    ]
    try:
        answers = [line.recv(64) for line in lines]  # cut, or told to come again
    finally:
        for line in lines:
            line.close()
    assert sum(one.startswith(b"HTTP/1.0 503") for one in answers) >= 1
    assert page(served, "nodes")[0] == 200


def test_a_busy_port_is_bad_input(served: Server) -> None:
    asked = ServeSpecification(root=served.pages.root, port=served.server_port)
    with pytest.raises(BadInput, match=r"port \d+ of 127.0.0.1 cannot be had.*--port 0"):
        open_server(asked, LoggingReporter())


@pytest.mark.parametrize(("listen", "why"), [("192.0.2.1", "no address to"), ("", "is empty")])
def test_an_address_that_is_not_ours_is_bad_input(tmp_path: Path, listen: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        open_server(ServeSpecification(root=tmp_path, listen=listen), LoggingReporter())


def test_who_listens_for_others_is_warned(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    asked = ServeSpecification(root=tmp_path, listen="0.0.0.0")  # noqa: S104
    with open_server(asked, LoggingReporter()) as server:
        assert socket.gethostname().lower() in server.address
    assert "not encrypted" in caplog.text
