"""Requests to one BMC and its answers: bounded in number, size and time, never elsewhere."""

import hashlib
import http.client
import socket
import ssl
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from wireproof.model.bmc import Bmc
from wireproof.model.errors import CouldNotMeasure

# --- One TLS connection to a BMC, on which no wait is without an end.

# --- What goes wrong with a BMC, in one sentence without its end.


class BmcFailed(CouldNotMeasure):
    """The BMC did not answer, refused, or answered what is no Redfish. The text names its address
    and never holds the password.
    """


class Deadline:
    """Seconds that are left for all requests, and for the one under way."""

    def __init__(self, total_s: float, request_s: float) -> None:
        self._end = time.monotonic() + total_s
        self._request_s = request_s
        self._request_end = self._end

    def start_request(self) -> None:
        self._request_end = min(self._end, time.monotonic() + self._request_s)

    def allow(self, seconds: float) -> None:
        """``seconds`` for what must be done at the end, however late it is."""
        self._end = max(self._end, time.monotonic() + seconds)

    def left(self) -> float:
        """Seconds for the next wait. Raises ``TimeoutError`` when there are none."""
        left = self._request_end - time.monotonic()
        if left <= 0:
            raise TimeoutError("it did not answer in time")
        return left


class _Timed(socket.socket):
    """Each wait gets what is left of the request's time: a byte now and then prolongs nothing."""

    clock: Deadline | None = None

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        if self.clock is not None:
            self.settimeout(self.clock.left())
        return super().recv_into(*arguments, **named)


class _Secure(_Timed, ssl.SSLSocket):
    """With TLS."""


def open_connection(bmc: Bmc, clock: Deadline) -> http.client.HTTPConnection:
    """A connection whose certificate was checked before anything was sent on it."""
    if bmc.plain:
        return _plain_connection(bmc, clock)
    context = _context(bmc)
    raw = socket.create_connection((bmc.address, bmc.port), clock.left())
    try:
        raw.settimeout(clock.left())
        secure = context.wrap_socket(raw, server_hostname=bmc.address)
    except BaseException:
        raw.close()
        raise
    try:
        _check_fingerprint(bmc, secure)
    except BaseException:
        secure.close()
        raise
    secure.clock = clock  # type: ignore[attr-defined]  # the context makes a _Secure of it
    connection = http.client.HTTPSConnection(bmc.address, bmc.port, context=context)
    connection.auto_open = 0  # a connection that was not checked is never opened behind our back
    connection.sock = secure
    return connection


def _plain_connection(bmc: Bmc, clock: Deadline) -> http.client.HTTPConnection:
    raw = socket.create_connection((bmc.address, bmc.port), clock.left())
    plain = _Timed(fileno=raw.detach())
    plain.clock = clock
    connection = http.client.HTTPConnection(bmc.address, bmc.port)
    connection.auto_open = 0
    connection.sock = plain
    return connection


def _context(bmc: Bmc) -> ssl.SSLContext:
    """TLS 1.2 or later. Not `ssl.create_default_context`, which writes its keys to a file when a
    variable of the environment says so.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.sslsocket_class = _Secure
    if bmc.insecure or bmc.fingerprint:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif bmc.authority:
        try:
            context.load_verify_locations(cafile=bmc.authority)
        except (OSError, ssl.SSLError) as error:
            raise BmcFailed(f"{bmc.authority} cannot be read as certificates: {error}.") from error
    else:
        context.load_default_certs()
    return context


def _check_fingerprint(bmc: Bmc, secure: ssl.SSLSocket) -> None:
    if not bmc.fingerprint or bmc.insecure:
        return
    seen = hashlib.sha256(secure.getpeercert(binary_form=True) or b"").hexdigest()
    if seen != bmc.fingerprint:
        raise ssl.SSLCertVerificationError(f"its fingerprint is {seen}")


_REDIRECTS = (301, 302, 307, 308)
_LONGEST_LINK = 1024
_CHUNK = 1 << 16


@dataclass(frozen=True)
class BmcLimits:
    """Of one BMC: seconds of a request and in all, bytes of an answer and in all, requests."""

    request_s: float = 20.0
    total_s: float = 90.0
    answer_bytes: int = 8 << 20
    total_bytes: int = 32 << 20
    requests: int = 64


@dataclass(frozen=True)
class Response:
    """``document``: the body as JSON, {} when there is none. ``headers`` with lower-case names."""

    status: int
    document: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def link_of(document: Any, *keys: str) -> str:
    """The path that ``document[key]...["@odata.id"]`` leads to; "" when it is none that is right
    to follow: a path below /redfish/ on the same BMC.
    """
    for key in (*keys, "@odata.id"):
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, str) and _is_path(document) else ""


def _is_path(link: str) -> bool:
    plain = link.isascii() and link.isprintable() and len(link) <= _LONGEST_LINK
    return plain and link.startswith("/redfish/") and " " not in link and "/.." not in link


class Talk:
    """Requests and answers. Not for several threads."""

    def __init__(self, bmc: Bmc, limits: BmcLimits) -> None:
        self.bmc, self.limits = bmc, limits
        self.clock = Deadline(limits.total_s, limits.request_s)
        self.headers: dict[str, str] = {}
        """Sent with every request: what the login gave."""
        self._connection: http.client.HTTPConnection | None = None
        self._requests = self._bytes = 0

    def request(
        self, method: str, path: str, body: Any = None, more: Mapping[str, str] | None = None
    ) -> Response:
        """The answer, whatever its status; redirects of a GET are followed where they stay on this
        BMC. Raises ``BmcFailed``.
        """
        for _ in range(4):
            answer = self._once(method, path, body, more or {})
            if answer.status not in _REDIRECTS:
                return answer
            path = self._redirected(method, answer)
        raise self.failed("redirects without an end")

    def failed(self, what: str) -> BmcFailed:
        """The error with this text, made safe to show."""
        bmc = self.bmc
        return BmcFailed(f"the BMC {bmc.place} of {bmc.host} {bmc.password.hide_in(what)}")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _once(self, method: str, path: str, body: Any, more: Mapping[str, str]) -> Response:
        self._requests += 1
        if self._requests > self.limits.requests:
            raise self.failed(f"leads to more than {self.limits.requests} requests")
        self.clock.start_request()
        data = None if body is None else msgspec.json.encode(body)
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        headers |= {"OData-Version": "4.0", **self.headers, **more}
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            return self._carried_out(method, path, data, headers)
        except BmcFailed:
            self.close()
            raise
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.close()
            raise self.failed(_why(error, self.bmc)) from None  # a context may hold what was sent

    def _carried_out(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> Response:
        reused = self._connection is not None
        try:
            response = self._sent(method, path, data, headers)
        except (http.client.RemoteDisconnected, ConnectionError):
            self.close()
            if not reused or method not in ("GET", "DELETE"):
                raise
            response = self._sent(method, path, data, headers)  # it had closed an idle connection
        raw = self._body(response)
        found = {name.lower(): text for name, text in response.getheaders()}
        if response.will_close:
            self.close()
        return Response(response.status, self._document(raw, found), found)

    def _sent(
        self, method: str, path: str, data: bytes | None, headers: dict[str, str]
    ) -> http.client.HTTPResponse:
        if self._connection is None:
            self._connection = open_connection(self.bmc, self.clock)
        connection = self._connection
        connection.sock.settimeout(self.clock.left())
        connection.request(method, path, body=data, headers=headers)
        return connection.getresponse()

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        largest = min(self.limits.answer_bytes, self.limits.total_bytes - self._bytes)
        found = bytearray()
        while len(found) <= largest and (part := response.read(_CHUNK)):
            found += part
        self._bytes += len(found)
        if len(found) > largest:
            raise self.failed(f"sends more than {_size(self.limits)}")
        return bytes(found)

    def _document(self, raw: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        """Only an object is one; another body is of no use and is left."""
        if headers.get("content-encoding", "").strip().lower() == "gzip":
            raw = self._unpacked(raw)
        try:
            found = msgspec.json.decode(raw) if raw.strip() else {}
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            found = None
        return found if isinstance(found, dict) else {}

    def _unpacked(self, raw: bytes) -> bytes:
        largest = self.limits.answer_bytes
        try:
            found = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(raw, largest + 1)
        except zlib.error:
            return b""
        if len(found) > largest:
            raise self.failed(f"sends more than {_size(self.limits)}")
        return found

    def _redirected(self, method: str, answer: Response) -> str:
        location = answer.headers.get("location", "")
        path = _path_here(location, self.bmc)
        if method != "GET" or not path:
            raise self.failed(f"leads elsewhere ({location[:80]!r}), where nothing is sent")
        return path


def _path_here(location: str, bmc: Bmc) -> str:
    """The path of ``location`` where it is on this BMC; "" where it is not."""
    try:
        parts = urlsplit(location)
        port = parts.port
    except ValueError:
        return ""
    here = parts.hostname in (None, bmc.address) and parts.scheme in (
        "",
        "http" if bmc.plain else "https",
    )
    return parts.path if here and port in (None, bmc.port) and _is_path(parts.path) else ""


def _size(limits: BmcLimits) -> str:
    return f"{limits.answer_bytes >> 20} MiB in an answer, or {limits.total_bytes >> 20} in all"


def _why(error: Exception, bmc: Bmc) -> str:
    """What happened, for a sentence that begins "the BMC ADDRESS of HOST". Texts of libraries may
    quote what was sent: only those of the operating system and of TLS are taken.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        seen = error.verify_message if hasattr(error, "verify_message") else error.args[-1]
        return (
            f"has a certificate that is not trusted ({seen}): give the file of its certificate or "
            "CA, or its fingerprint; --bmc-insecure takes any"
        )
    if isinstance(error, TimeoutError):
        return "did not answer in time"
    if isinstance(error, socket.gaierror):
        return f"is not known by its name ({error.strerror})"
    if isinstance(error, ssl.SSLError):
        return f"does not speak TLS 1.2 or later ({error.reason})"
    if isinstance(error, OSError):
        return f"cannot be reached ({error.strerror or type(error).__name__})"
    return "answers what is no HTTP"
