"""One TLS connection to a BMC, on which no wait is without an end."""

from __future__ import annotations

import hashlib
import http.client
import socket
import ssl
import time
from typing import Any

from wireproof.bmc.errors import BmcFailed
from wireproof.model.bmc import Bmc

__all__ = ["Clock", "open_connection"]


class Clock:
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


class _Plain(socket.socket):
    """Without TLS, for an address of this machine."""

    clock: Clock | None = None

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        if self.clock is not None:
            self.settimeout(self.clock.left())
        return super().recv_into(*arguments, **named)


class _Socket(ssl.SSLSocket):
    """Each wait gets what is left of the request's time: a byte now and then prolongs nothing."""

    clock: Clock | None = None

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        if self.clock is not None:
            self.settimeout(self.clock.left())
        return super().recv_into(*arguments, **named)


def open_connection(bmc: Bmc, clock: Clock) -> http.client.HTTPConnection:
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
    secure.clock = clock  # type: ignore[attr-defined]  # the context makes a _Socket of it
    connection = http.client.HTTPSConnection(bmc.address, bmc.port, context=context)
    connection.auto_open = 0  # a connection that was not checked is never opened behind our back
    connection.sock = secure
    return connection


def _plain_connection(bmc: Bmc, clock: Clock) -> http.client.HTTPConnection:
    raw = socket.create_connection((bmc.address, bmc.port), clock.left())
    plain = _Plain(fileno=raw.detach())
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
    context.sslsocket_class = _Socket
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
