"""What a BMC that is broken, slow or hostile can do: little, in bounded time and memory."""

import gzip
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest
from tests.bmc.certificate import Certificate
from tests.bmc.server import PASSWORD, SYSTEM, Board, Reply, served

from wireproof.bmc import collect_firmware
from wireproof.bmc.talk import BmcLimits

LIMITS = BmcLimits(answer_bytes=1 << 20, total_bytes=4 << 20, requests=40)
HURRIED = replace(LIMITS, request_s=0.5, total_s=1.0)
ENTRIES = [{"AttributeName": "Turbo", "DisplayName": "Turbo Mode", "Type": "Enumeration"}]
BIOS = f"{SYSTEM}/Bios"


@pytest.fixture
def board(certificate: Certificate) -> Iterator[Board]:
    with served(Board({"Turbo": "Enabled"}, ENTRIES), certificate) as board:
        yield board


def read(
    board: Board, certificate: Certificate, password: str = PASSWORD, limits: BmcLimits = LIMITS
) -> dict[str, str]:
    """Texts by place, and under "" why there are none."""
    (facts,) = collect_firmware([board.reached(password, certificate)], limits).values()
    return {one.path if one.status == "ok" else "": one.text or one.reason for one in facts}


def raw(head: bytes, body: bytes = b"", pause_s: float = 0.0, times: int = 1) -> Reply:
    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(head)
        for _ in range(times):
            handler.wfile.write(body)
            handler.wfile.flush()
            time.sleep(pause_s)
        handler.close_connection = True

    return reply


def json_of(body: bytes, more: bytes = b"") -> Reply:
    return raw(b"HTTP/1.1 200 OK\r\n" + more + b"Content-Length: %d\r\n\r\n" % len(body), body)


def to(place: bytes) -> Reply:
    return raw(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + place + b"\r\n\r\n")


MIB = b" " * (1 << 20)
PACKED = gzip.compress(MIB * 8)


@pytest.mark.parametrize(
    ("path", "reply", "said"),
    [
        (
            BIOS,
            raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n", MIB, 0, 3),
            "sends more",
        ),
        (BIOS, raw(b"HTTP/1.1 200 OK\r\n\r\n", MIB, 0, 3), "sends more"),
        (BIOS, json_of(PACKED, b"Content-Encoding: gzip\r\n"), "sends more"),
        (BIOS, raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b" ", 0.1, 20), "in time"),
        (BIOS, raw(b"HTTP/1.1 200 OK\r\nX: ", b"y", 0.1, 20), "in time"),
        (BIOS, raw(b"", b"", 1.0), "in time"),
        (BIOS, raw(b"SSH-2.0-OpenSSH\r\n"), "other than HTTP"),
        (BIOS, raw(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"), "other than HTTP"),
        (BIOS, raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70000 + b"\r\n\r\n"), "other than HTTP"),
        (BIOS, json_of(b"[" * 100000), "not Redfish"),
        (BIOS, json_of(b"\xff\xfe"), "not Redfish"),
        (BIOS, json_of(b"[1]"), "not Redfish"),
        (BIOS, to(b"https://evil.example/redfish/v1/x"), "redirects elsewhere"),
        (BIOS, to(b"https://127.0.0.1:1/redfish/v1/x"), "redirects elsewhere"),
        (BIOS, to(b"/etc/passwd"), "redirects elsewhere"),
        (BIOS, to(b"//evil.example/redfish/"), "redirects elsewhere"),
        (BIOS, to(b"https://["), "redirects elsewhere"),
        (BIOS, to(BIOS.encode()), "redirects endlessly"),
        (
            SYSTEM,
            json_of(b'{"Bios": {"@odata.id": "https://evil.example/redfish/v1/"}}'),
            "no system",
        ),
        (SYSTEM, json_of(b'{"Bios": ["x"]}'), "no system"),
        (SYSTEM, json_of(b'{"Bios": {"@odata.id": "/redfish/v1/a b"}}'), "no system"),
        ("/redfish/v1/Systems", json_of(b'{"Members": 7}'), "no system"),
        (BIOS, json_of(b'{"Attributes": {"Half": "\\ud800"}}'), "not Redfish"),
        ("/redfish/v1/", json_of(b"{}"), "not Redfish"),
        ("/redfish/v1/", json_of(b'{"x": 1}'), "refused"),
    ],
)
def test_what_is_no_redfish_is_one_sentence(
    path: str, reply: Reply, said: str, board: Board, certificate: Certificate
) -> None:
    board.replies["GET", path] = reply
    found = read(board, certificate, limits=HURRIED if said == "in time" else LIMITS)
    assert set(found) == {""}
    assert said in found[""]
    assert "127.0.0.1" in found[""]
    assert PASSWORD not in found[""]
    assert board.logins <= 1


def test_pages_that_lead_back_or_never_end(board: Board, certificate: Certificate) -> None:
    def page(handler: BaseHTTPRequestHandler) -> None:
        number = len(board.requests)
        handler.answer(200, {"Members": [], "Members@odata.nextLink": f"/redfish/v1/p{number}"})  # type: ignore[attr-defined]
        board.replies["GET", f"/redfish/v1/p{number}"] = page

    board.documents["/redfish/v1/Systems"]["Members@odata.nextLink"] = "/redfish/v1/Systems"
    assert "bios" in read(board, certificate), "a page that leads to itself is read once"
    board.replies["GET", "/redfish/v1/Systems"] = page
    assert "pages" in read(board, certificate)[""]


def test_only_what_is_on_the_list_is_kept(board: Board, certificate: Certificate) -> None:
    """No password, hash or key of the firmware, nothing that echoes the BMC's own password."""
    board.now |= {
        "SysPassword": "of the machine",
        "SHA256SetupPassword": "12ab",
        "MemTestPass": "3",
        "Login": "ftp://boot:hidden1@n1/",
        "Note": f"the password is {PASSWORD}",
        "Long": "x" * 5000,
        "List": [1],
        "Code": "wanted",
        "Escape": "\x1b[31mred",
    }
    more = [*ENTRIES, {"AttributeName": "Code", "Type": "Password"}, 7, {"x": 1}]
    board.documents["/redfish/v1/registry.json"]["RegistryEntries"]["Attributes"] = more
    found = read(board, certificate)
    text = "".join(found.values())
    assert '"Turbo":"Enabled"' in found["bios"]
    for secret in (PASSWORD, "of the machine", "12ab", "wanted", "hidden1", "x" * 2000):
        assert secret not in text
    assert "\x1b" not in text, "JSON escapes it"


def test_the_password_is_tried_once(board: Board, certificate: Certificate) -> None:
    found = read(board, certificate, "wrong")
    assert "refused user 'admin'" in found[""]
    assert "wrong" not in found[""].replace("wrong certificate", "")
    assert board.logins == 1
    assert board.requests[-1][:2] == ("POST", "/redfish/v1/SessionService/Sessions")


def test_a_session_is_given_back_whatever_happens(board: Board, certificate: Certificate) -> None:
    board.replies["GET", BIOS] = json_of(b"[1]")
    read(board, certificate)
    assert board.requests[-1][:2] == ("DELETE", "/redfish/v1/SessionService/Sessions/7")
    assert board.logins == 1


def test_a_bmc_that_echoes_the_password_shows_it_to_nobody(
    board: Board, certificate: Certificate
) -> None:
    board.replies["GET", BIOS] = json_of(b"")
    echo = f'{{"error": {{"message": "{PASSWORD} is no key"}}}}'.encode()
    board.replies["GET", BIOS] = raw(
        b"HTTP/1.1 500 No\r\nContent-Length: %d\r\n\r\n" % len(echo), echo
    )
    found = read(board, certificate)
    assert "(hidden) is no key" in found[""]


def test_what_is_packed_is_read(board: Board, certificate: Certificate) -> None:
    """Some BMCs pack their registries whatever the client accepts."""
    body = gzip.compress(b'{"RegistryEntries": {"Attributes": [{"AttributeName": "Turbo"}]}}')
    board.replies["GET", "/redfish/v1/registry.json"] = json_of(body, b"Content-Encoding: gzip\r\n")
    assert "Turbo" in read(board, certificate)["bios/registry"]
