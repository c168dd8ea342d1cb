"""sushy-tools' emulator on loopback, with TLS and a password.

Its fake driver knows no BIOS: `_Driver` adds the attributes, and keeps those that are set until the
next reboot, as a BMC does. The registry with the names for people is the emulator's own.
"""

import contextlib
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bmc.certificate import Certificate

PASSWORD = "s3cret-of-the-bmc"
ATTRIBUTES = {"ProcTurboMode": "Disabled", "BootMode": "Uefi", "NumCores": 10, "SysPassword": "x"}


class Emulator:
    """``requests``: method, path and whether it carried a password, in their order."""

    def __init__(self) -> None:
        self.port = 0
        self.requests: list[tuple[str, str, bool]] = []
        self.now: dict[str, Any] = dict(ATTRIBUTES)
        self.pending: dict[str, Any] = {}

    @property
    def address(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def reboot(self) -> None:
        """What is pending counts from now on."""
        self.now |= self.pending
        self.pending = {}


@contextlib.contextmanager
def emulated(folder: Path, certificate: Certificate) -> Iterator[Emulator]:
    """The emulator while the context lasts. One at a time in a process: it keeps its state in its
    module.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("sushy_tools", reason="needs sushy-tools")
        import bcrypt
        from sushy_tools.emulator import main
        from werkzeug.serving import WSGIRequestHandler, make_server

    digest = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    users = folder / "users"
    users.write_text(f"admin:{digest}\n", encoding="ascii")
    state = Emulator()
    main.app.config["SUSHY_EMULATOR_FAKE_DRIVER"] = True
    main.app.config["SUSHY_EMULATOR_STATE_DIR"] = str(folder)

    class Quiet(WSGIRequestHandler):
        def log(self, *_arguments: Any, **_named: Any) -> None:
            pass

    guarded = main.RedfishAuthMiddleware(main.app.wsgi_app, str(users))

    def counting(environment: dict[str, Any], start: Any) -> Any:
        carried = "HTTP_AUTHORIZATION" in environment
        state.requests.append((environment["REQUEST_METHOD"], environment["PATH_INFO"], carried))
        return guarded(environment, start)

    _with_bios(main, state)
    server = make_server(
        "127.0.0.1", 0, counting, request_handler=Quiet, ssl_context=certificate.context()
    )
    state.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _with_bios(main: Any, state: Emulator) -> None:
    """The fake driver of the emulator gets a BIOS."""
    import flask
    from sushy_tools.emulator.resources.systems.fakedriver import FakeDriver

    def get_bios(_self: Any, _identity: str) -> dict[str, Any]:
        later = flask.request.path.endswith("/Settings")
        return {**state.now, **state.pending} if later else state.now

    def set_bios(_self: Any, _identity: str, attributes: dict[str, Any]) -> None:
        state.pending |= attributes

    FakeDriver.get_bios, FakeDriver.set_bios = get_bios, set_bios
