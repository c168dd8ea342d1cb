"""The server: one address of this machine, one token, pages that are read only.

Every request is bounded: in its size, in the time that it may take to arrive and to be answered,
and in how many are answered at once. A connection carries one request.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import ipaddress
import os
import secrets
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from wireproof.model.errors import BadInput, WireproofError
from wireproof.report.html.board.frame import Page, said
from wireproof.workflow.bug import sentence
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.serve.history import ServedHistory
from wireproof.workflow.serve.pages import NotThere, Pages

__all__ = ["ServeSpecification", "Server", "open_server"]

_LONGEST_ADDRESS = 8192
_AT_ONCE = 16
"""Requests under way; who comes then is told to come again."""
_QUIET_S = 10.0
_WHOLE_S = 300.0
"""From the first byte to the last: two results may wait, be read, and be judged."""
_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_HEADERS = (
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
_TITLES = {
    400: "Bad request",
    403: "Not allowed",
    404: "Not there",
    405: "Not allowed",
    414: "Too long",
    500: "An error of ours",
    503: "No answer",
}
_WRONG_ADDRESS = (
    "This address lacks the right token: open the one that `wireproof serve` has printed when it"
    " was started."
)
_WRONG_HOST = (
    "This server does not answer under that name: use the address that `wireproof serve` has"
    " printed, or localhost."
)


class ServeSpecification(msgspec.Struct, frozen=True, kw_only=True):
    """``listen``: the address, ``port``: 0 for any free one. ``topology``: a description of the
    fabric in place of those that the results have.
    """

    root: Path
    listen: str = "127.0.0.1"
    port: int = 0
    topology: Path | None = None


class Server(ThreadingHTTPServer):
    """``address``: what a browser opens, the token included."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 32
    allow_reuse_address = os.name == "posix"  # elsewhere it would let others take the port

    def __init__(self, specification: ServeSpecification, reporter: Reporter) -> None:
        self.reporter = reporter
        self.token = secrets.token_urlsafe(24)
        self.name = _name_of(specification.listen)
        self.pages = Pages(ServedHistory(specification.root, specification.topology))
        self._free = threading.BoundedSemaphore(_AT_ONCE)
        if ":" in specification.listen:
            self.address_family = socket.AF_INET6
        super().__init__((specification.listen, specification.port), _Handler)

    def server_bind(self) -> None:
        """Without the look-up of our own name, which may take long without a network."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.name, self.server_address[1]

    @property
    def address(self) -> str:
        host = f"[{self.name}]" if ":" in self.name else self.name
        return f"http://{host}:{self.server_port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with contextlib.suppress(OSError):
            request.settimeout(1.0)
            request.sendall(_BUSY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        over = threading.Timer(_WHOLE_S, _cut, [request])
        over.daemon = True
        over.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            over.cancel()
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is the browser's business; all else is answered before."""


def _cut(request: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is over already
        request.shutdown(socket.SHUT_RDWR)


def _name_of(listen: str) -> str:
    """What a browser calls us: who listens on every address has the name of the machine."""
    return socket.gethostname().lower() if listen in ("0.0.0.0", "::") else listen.lower()  # noqa: S104


def _is_local(listen: str) -> bool:
    try:
        return ipaddress.ip_address(listen).is_loopback
    except ValueError:
        return listen == "localhost"


def _refused(asked: ServeSpecification, error: OSError) -> str:
    why = error.strerror or str(error)
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        where = f"port {asked.port} of {asked.listen}"
        return f"{where} cannot be had: {why}. Give another --port; --port 0 takes a free one."
    return f"{asked.listen} is no address to listen on: {why}. Give one of this machine."


def open_server(specification: ServeSpecification, reporter: Reporter) -> Server:
    """Bound and with the history read, but not yet serving. Raises ``BadInput`` for an address or a
    port that cannot be had.
    """
    if not specification.listen:
        raise BadInput("the address to listen on is empty: give one such as 127.0.0.1.")
    try:
        server = Server(specification, reporter)
    except OverflowError as error:
        raise BadInput(f"there is no port {specification.port}.") from error
    except OSError as error:
        raise BadInput(_refused(specification, error)) from error
    try:
        server.pages.answer("", "")  # now, and not while somebody waits for the first page
        if not _is_local(specification.listen):
            reporter.warn(
                f"other machines can ask {specification.listen}, and what they are sent is not"
                " encrypted, the token neither: `ssh -L` from there is safer."
            )
        for trouble in server.pages.troubles():
            reporter.warn(trouble)
    except BaseException:
        server.server_close()
        raise
    return server


class _Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = _QUIET_S
    server_version = "wireproof"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        if not self._known_host():
            return self._say(403, _WRONG_HOST)
        if len(self.path) > _LONGEST_ADDRESS:
            return self._say(414, "The address is too long.")
        try:
            asked = urlsplit(self.path)
            token, slash, name = unquote(asked.path, errors="strict").lstrip("/").partition("/")
        except ValueError:
            return self._say(403, _WRONG_ADDRESS)
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            return self._say(403, _WRONG_ADDRESS)
        if not slash:
            return self._move(f"/{self.server.token}/")
        return self._page(name, asked.query)

    def _page(self, name: str, query: str) -> None:
        root = str(self.server.pages.root)
        try:
            return self._send(200, self.server.pages.answer(name, query))
        except NotThere as error:
            return self._say(404, str(error), root)
        except WireproofError as error:
            return self._say(503, f"This cannot be shown: {error}", root)
        except OSError:
            raise  # the browser has gone
        except Exception as error:
            self.server.reporter.warn(sentence(error, f"the page {name[:40]!r} was made"))
            return self._say(500, "This page failed; the terminal says why.", root)

    def _known_host(self) -> bool:
        """Whether the request names this server by an address, by localhost, or by the name that it
        listens on: under any other name a foreign page may be asking (DNS rebinding).
        """
        given = self.headers.get_all("Host", [])
        if len(given) != 1:
            return False
        try:
            name = urlsplit(f"//{given[0].strip()}").hostname or ""
        except ValueError:
            return False
        if name in ("localhost", self.server.name):
            return True
        try:
            return bool(ipaddress.ip_address(name))
        except ValueError:
            return False

    def _say(self, status: int, sentence_: str, root: str = "") -> None:
        self._send(status, said(_TITLES.get(status, "No answer"), sentence_, root))

    def _send(self, status: int, page: Page) -> None:
        body = page.html.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", f"{page.policy}; frame-ancestors 'none'")
        if status == 405:
            self.send_header("Allow", "GET, HEAD")
        for header in _HEADERS:
            self.send_header(*header)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _move(self, place: str) -> None:
        self.send_response(308)
        self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        for header in _HEADERS:
            self.send_header(*header)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses: a method, a line that is no request, too long a one.
        Nothing of it is repeated.
        """
        self.command = getattr(self, "command", None) or "GET"  # a line that is none has no method
        if code == 501:
            return self._say(405, "Pages can be read here, and nothing else: use GET or HEAD.")
        known = code if code in _TITLES else 400
        return self._say(known, "This is no request that can be answered.")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the address holds the token."""
