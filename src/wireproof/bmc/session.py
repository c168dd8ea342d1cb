"""Log in to a BMC exactly once: the password is never sent a second time, regardless of the
answer.
"""

from __future__ import annotations

import base64
import contextlib
from types import TracebackType
from typing import Any

from wireproof.bmc.talk import BmcFailed, BmcLimits, Response, Talk, link_of
from wireproof.model.tuning import Bmc

ROOT = "/redfish/v1/"
_SESSIONS = f"{ROOT}SessionService/Sessions"
_GOODBYE_S = 5.0
_LONGEST_TOKEN = 4096


class BmcSession:
    """A context manager that logs in on entry and logs out on exit. ``root``: the root document of
    the service.

    The root is requested without the password. To create a session, the password is sent in a
    single request; after that, the session's token is used. A BMC without sessions gets the
    password with each request (HTTP Basic), and the first refusal ends the session.
    """

    def __init__(self, bmc: Bmc, limits: BmcLimits | None = None) -> None:
        self.bmc = bmc
        self.talk = Talk(bmc, limits or BmcLimits())
        self.root: dict[str, Any] = {}
        self._session = ""

    def __enter__(self) -> BmcSession:
        try:
            answer = self.talk.request("GET", ROOT)
            if answer.status == 200:
                self.root = answer.document
            if self._sessions(answer.status):
                self._checked("GET", ROOT, answer)
                self._log_in()
            else:
                self._basic()
        except BaseException:
            self.talk.close()
            raise
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        try:
            if self._session:  # a BMC allows only a few sessions
                self.talk.clock.allow(_GOODBYE_S)
                with contextlib.suppress(BmcFailed):
                    self.talk.request("DELETE", self._session)
        finally:
            self.talk.close()

    def get(self, path: str) -> Response:
        """Return the answer for ``path``. Raise ``BmcFailed`` for any status except 200."""
        return self._checked("GET", path, self.talk.request("GET", path))

    def maybe(self, path: str) -> Response | None:
        """Return the answer for ``path``, or None if the BMC does not have it."""
        answer = self.talk.request("GET", path)
        if answer.status in (404, 405, 500, 501) or (answer.status == 200 and not answer.document):
            return None
        return self._checked("GET", path, answer)

    def patch(self, path: str, body: dict[str, Any], tag: str = "") -> Response:
        """Change the resource at ``path``, if it still has the version ``tag``."""
        more = {"If-Match": tag} if tag else {}
        return self._checked("PATCH", path, self.talk.request("PATCH", path, body, more))

    def _sessions(self, status: int) -> bool:
        offered = "SessionService" in self.root or link_of(self.root, "Links", "Sessions")
        return self.bmc.login == "session" or bool(
            self.bmc.login == "" and offered and status == 200
        )

    def _basic(self) -> None:
        pair = f"{self.bmc.user}:{self.bmc.password.reveal()}".encode()
        self.talk.headers["Authorization"] = f"Basic {base64.b64encode(pair).decode('ascii')}"
        if not self.root:
            self.root = self.get(ROOT).document

    def _log_in(self) -> None:
        path = link_of(self.root, "Links", "Sessions") or _SESSIONS
        body = {"UserName": self.bmc.user, "Password": self.bmc.password.reveal()}
        answer = self.talk.request("POST", path, body)
        if answer.status in (404, 405, 501):
            raise self.talk.failed('does not support sessions: set login = "basic" for it')
        if answer.status == 503:
            raise self.talk.failed("has no room for another session, or is busy (503)")
        token = answer.headers.get("x-auth-token", "")
        if answer.status not in (200, 201) or not token:
            raise self._refused(answer.status)
        if len(token) > _LONGEST_TOKEN or not (token.isascii() and token.isprintable()):
            raise self.talk.failed("returned an invalid session token")
        self.talk.headers["X-Auth-Token"] = token
        place = answer.headers.get("location", "").partition("/redfish/")[2]
        self._session = link_of({"@odata.id": f"/redfish/{place}"} if place else answer.document)

    def _refused(self, status: int) -> BmcFailed:
        return self.talk.failed(
            f"refused user {self.bmc.user!r} or the password (status {status}); it was tried once"
        )

    def _checked(self, method: str, path: str, answer: Response) -> Response:
        if 200 <= answer.status < 300 and (method != "GET" or answer.document):
            return answer
        if answer.status == 401:
            raise self._refused(answer.status)
        if answer.status < 300:
            raise self.talk.failed(f"answers {method} {path} with a document that is not Redfish")
        message = _messages_of(answer.document)
        more = f": {message}" if message else ""
        raise self.talk.failed(f"answers {method} {path} with status {answer.status}{more}")


def _messages_of(document: dict[str, Any]) -> str:
    """Return the BMC's error messages, shortened; the display code escapes them."""
    error = document.get("error")
    if not isinstance(error, dict):
        return ""
    more = error.get("@Message.ExtendedInfo")
    listed = more[:3] if isinstance(more, list) else []
    messages = [one.get("Message") for one in listed if isinstance(one, dict)]
    texts = [one for one in (*messages, error.get("message")) if isinstance(one, str)]
    return " ".join(" ".join(one.split()) for one in (texts[:-1] or texts))[:300]
