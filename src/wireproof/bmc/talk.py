"""Send requests to a BMC and read its answers, bounded in number, size and time, and only to that
address.
"""

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

from wireproof.model.errors import CouldNotMeasure
from wireproof.model.tuning import Bmc

# --- A TLS connection to a BMC, on which every wait is bounded.

# --- Errors of a BMC, as sentences without a full stop.


class BmcFailed(CouldNotMeasure):
    """The BMC did not answer, refused, or answered with a document that is not Redfish. The text
    contains its address but never the password.
    """


class Deadline:
    """Time limits for all requests together and for the current request."""

    def __init__(self, total_s: float, request_s: float) -> None:
        self._end = time.monotonic() + total_s
        self._request_s = request_s
        self._request_end = self._end

    def start_request(self) -> None:
        self._request_end = min(self._end, time.monotonic() + self._request_s)

    def allow(self, seconds: float) -> None:
        """Grant at least ``seconds`` for the final cleanup, regardless of the time used so far."""
        self._end = max(self._end, time.monotonic() + seconds)

    def left(self) -> float:
        """Return the seconds left for the next wait. Raise ``TimeoutError`` if there are none."""
        left = self._request_end - time.monotonic()
        if left <= 0:
            raise TimeoutError("it did not answer in time")
        return left


class _Timed(socket.socket):
    """A socket on which each wait is limited to the rest of the request's time, so that single
    bytes do not extend it.
    """

    clock: Deadline | None = None

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        if self.clock is not None:
            self.settimeout(self.clock.left())
        return super().recv_into(*arguments, **named)


class _Secure(_Timed, ssl.SSLSocket):
    """The same with TLS."""


def open_connection(bmc: Bmc, clock: Deadline) -> http.client.HTTPConnection:
    """Open a connection and check the certificate before anything is sent."""
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
    secure.clock = clock  # type: ignore[attr-defined]  # the context creates a _Secure
    connection = http.client.HTTPSConnection(bmc.address, bmc.port, context=context)
    connection.auto_open = 0  # never reopen a connection without checking the certificate
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
    """Return a context for TLS 1.2 or later. `ssl.create_default_context` is not used because it
    writes its keys to a file if an environment variable says so.
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
    """Limits per BMC: seconds per request and in total, bytes per answer and in total, number of
    requests.
    """

    request_s: float = 20.0
    total_s: float = 90.0
    answer_bytes: int = 8 << 20
    total_bytes: int = 32 << 20
    requests: int = 64


@dataclass(frozen=True)
class Response:
    """``document``: the body as JSON, {} if there is none. ``headers`` have lower-case names."""

    status: int
    document: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


def link_of(document: Any, *keys: str) -> str:
    """Return the path in ``document[key]...["@odata.id"]``; "" unless it is safe to follow: a path
    below /redfish/ on the same BMC.
    """
    for key in (*keys, "@odata.id"):
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, str) and _is_path(document) else ""


def _is_path(link: str) -> bool:
    plain = link.isascii() and link.isprintable() and len(link) <= _LONGEST_LINK
    return plain and link.startswith("/redfish/") and " " not in link and "/.." not in link


class Talk:
    """Requests and answers; for a single thread."""

    def __init__(self, bmc: Bmc, limits: BmcLimits) -> None:
        self.bmc, self.limits = bmc, limits
        self.clock = Deadline(limits.total_s, limits.request_s)
        self.headers: dict[str, str] = {}
        """Login headers, sent with every request."""
        self._connection: http.client.HTTPConnection | None = None
        self._requests = self._bytes = 0

    def request(
        self, method: str, path: str, body: Any = None, more: Mapping[str, str] | None = None
    ) -> Response:
        """Return the answer, regardless of its status. Redirects of a GET are followed if they stay
        on this BMC. Raise ``BmcFailed`` if there is no answer.
        """
        for _ in range(4):
            answer = self._once(method, path, body, more or {})
            if answer.status not in _REDIRECTS:
                return answer
            path = self._redirected(method, answer)
        raise self.failed("redirects endlessly")

    def failed(self, what: str) -> BmcFailed:
        """Return an error with this text, without the password."""
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
            raise self.failed(
                _why(error, self.bmc)
            ) from None  # the original error may quote the request

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
            response = self._sent(
                method, path, data, headers
            )  # the BMC had closed the idle connection
        raw = self._body(response)
        fields = {name.lower(): text for name, text in response.getheaders()}
        if response.will_close:
            self.close()
        return Response(response.status, self._document(raw, fields), fields)

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
        body = bytearray()
        while len(body) <= largest and (part := response.read(_CHUNK)):
            body += part
        self._bytes += len(body)
        if len(body) > largest:
            raise self.failed(f"sends more than {_size(self.limits)}")
        return bytes(body)

    def _document(self, raw: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the body if it is a JSON object; any other body is ignored."""
        if headers.get("content-encoding", "").strip().lower() == "gzip":
            raw = self._unpacked(raw)
        try:
            document = msgspec.json.decode(raw) if raw.strip() else {}
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            document = None
        return document if isinstance(document, dict) else {}

    def _unpacked(self, raw: bytes) -> bytes:
        largest = self.limits.answer_bytes
        try:
            body = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(raw, largest + 1)
        except zlib.error:
            return b""
        if len(body) > largest:
            raise self.failed(f"sends more than {_size(self.limits)}")
        return body

    def _redirected(self, method: str, answer: Response) -> str:
        location = answer.headers.get("location", "")
        path = _path_here(location, self.bmc)
        if method != "GET" or not path:
            raise self.failed(f"redirects elsewhere ({location[:80]!r}), which is not followed")
        return path


def _path_here(location: str, bmc: Bmc) -> str:
    """Return the path of ``location`` if it is on this BMC, else ""."""
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
    """Return the failure as the end of a sentence that begins "the BMC ADDRESS of HOST". Messages
    of libraries may quote the request, so only those of the operating system and of TLS are used.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        seen = error.verify_message if hasattr(error, "verify_message") else error.args[-1]
        return (
            f"has a certificate that is not trusted ({seen}): give the file of its certificate or"
            " CA, or its fingerprint; --bmc-insecure accepts any certificate"
        )
    if isinstance(error, TimeoutError):
        return "did not answer in time"
    if isinstance(error, socket.gaierror):
        return f"has a name that cannot be resolved ({error.strerror})"
    if isinstance(error, ssl.SSLError):
        return f"does not speak TLS 1.2 or later ({error.reason})"
    if isinstance(error, OSError):
        return f"cannot be reached ({error.strerror or type(error).__name__})"
    return "answers with a protocol other than HTTP"
