"""A small BMC on loopback: documents by path, sessions, and whatever a test wants it to answer."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.bmc.certificate import Certificate

from wireproof.model.tuning import Bmc, Secret

PASSWORD = "another-s3cret"
_TOKEN = "t0ken-of-a-session"
Reply = Callable[[BaseHTTPRequestHandler], None]
SYSTEM = "/redfish/v1/Systems/1"


class Board:
    """A BMC with one system. ``replies``: answers that a test puts in place of documents, by method
    and path. ``requests``: method, path and what the request carried of a password or a token.
    """

    def __init__(self, attributes: dict[str, Any], entries: list[dict[str, Any]], maker: str = ""):
        self.port = 0
        self.requests: list[tuple[str, str, str]] = []
        self.patches: list[dict[str, Any]] = []
        self.replies: dict[tuple[str, str], Reply] = {}
        self.now, self.pending = attributes, dict[str, Any]()
        self.version = 1
        self.documents: dict[str, Any] = {
            "/redfish/v1/": {
                "Systems": {"@odata.id": "/redfish/v1/Systems"},
                "Registries": {"@odata.id": "/redfish/v1/Registries"},
                "Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}},
            },
            "/redfish/v1/Systems": {"Members": [{"@odata.id": SYSTEM}]},
            SYSTEM: {"Manufacturer": maker, "Bios": {"@odata.id": f"{SYSTEM}/Bios"}},
            f"{SYSTEM}/Bios": {
                "AttributeRegistry": "BiosAttributeRegistry.v1_0_0",
                "Attributes": attributes,
                "@Redfish.Settings": {
                    "SettingsObject": {"@odata.id": f"{SYSTEM}/Bios/Settings"},
                    "SupportedApplyTimes": ["OnReset", "Immediate"],
                },
            },
            "/redfish/v1/Registries": {
                "Members": [
                    {"@odata.id": "/redfish/v1/Registries/Base.1.8"},
                    {"@odata.id": "/redfish/v1/Registries/BiosAttributeRegistry.v1_0_0"},
                ]
            },
            "/redfish/v1/Registries/BiosAttributeRegistry.v1_0_0": {
                "Location": [
                    {"Language": "ja", "Uri": "/redfish/v1/registry.ja.json"},
                    {"Language": "en", "Uri": "/redfish/v1/registry.json"},
                ]
            },
            "/redfish/v1/registry.json": {"RegistryEntries": {"Attributes": entries}},
        }

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def reached(self, password: str = PASSWORD, certificate: Certificate | None = None) -> Bmc:
        """How a user names it; without a certificate the system's authorities are asked."""
        return Bmc(
            host="n1",
            address="127.0.0.1",
            port=self.port,
            user="admin",
            password=Secret(password),
            authority=str(certificate.file) if certificate else "",
        )

    @property
    def logins(self) -> int:
        """Requests that carried the password."""
        return sum(carried == "password" for _, _, carried in self.requests)

    def document(self, path: str) -> Any:
        if path == f"{SYSTEM}/Bios/Settings":
            return {
                "@odata.etag": f'W/"{self.version}"',
                "Attributes": {**self.now, **self.pending},
            }
        return self.documents.get(path)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    board: Board

    def log_message(self, *_arguments: Any) -> None:
        pass

    def handle_one_request(self) -> None:
        with contextlib.suppress(OSError):  # a client that has seen enough hangs up
            super().handle_one_request()

    def answer(self, status: int, document: Any = None, **headers: str) -> None:
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _dispatch(self) -> None:
        board = self.board
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        token = self.headers.get("X-Auth-Token", "")
        carried = "password" if "Password" in body or "Authorization" in self.headers else ""
        board.requests.append((self.command, self.path, carried or ("token" if token else "")))
        if reply := board.replies.get((self.command, self.path)):
            reply(self)
        elif self.path.endswith("/Sessions") and self.command == "POST":
            right = body == {"UserName": "admin", "Password": PASSWORD}
            place = f"{self.path}/7"
            headers = {"X_Auth_Token": _TOKEN, "Location": place} if right else {}
            self.answer(201 if right else 401, {"Id": "7"}, **headers)
        elif self.path != "/redfish/v1/" and token != _TOKEN:
            self.answer(401, {"error": {"message": "log in"}})
        else:
            self._documents(body)

    def _documents(self, body: dict[str, Any]) -> None:
        board = self.board
        if self.command == "DELETE":
            self.answer(204)
        elif self.command == "PATCH":
            if self.headers.get("If-Match", "") not in ("", f'W/"{board.version}"'):
                self.answer(412, {"error": {"message": "another version"}})
                return
            board.patches.append(body)
            board.pending |= body["Attributes"]
            board.version += 1
            self.answer(200, {"Id": "Settings"})
        elif (found := board.document(self.path)) is None:
            self.answer(404, {"error": {"message": "not there"}})
        else:
            self.answer(200, found)

    do_GET = do_POST = do_PATCH = do_DELETE = _dispatch  # noqa: N815


@contextlib.contextmanager
def served(board: Board, certificate: Certificate | None) -> Iterator[Board]:
    """The board, while the context lasts; without a certificate without TLS."""

    class Handler(_Handler):
        pass

    Handler.board = board
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_arguments: None  # type: ignore[method-assign]
    if certificate is not None:
        server.socket = certificate.context().wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    board.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield board
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
