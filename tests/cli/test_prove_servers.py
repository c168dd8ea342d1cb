"""The servers that a command talks to: it starts once they listen, and not if one has ended."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from wireproof.model.errors import CouldNotMeasure
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target
from wireproof.watch import hosts as servers
from wireproof.watch.command import NOWHERE, Watch
from wireproof.watch.prove import Companion

HEAD = "  sl  local_address rem_address   st tx_queue tr tm->when retrnsmt   uid timeout inode\n"
ROW = "   {n}: 0100007F:1F90 00000000:0000 {state} 0:0 00:00000000 00000000  0 0 {inode} 1 x\n"
LATE = """
import socket, sys, time
time.sleep(0.8)
kind = socket.SOCK_STREAM if sys.argv[1] == "tcp" else socket.SOCK_DGRAM
server = socket.socket(type=kind)
server.bind(("127.0.0.1", int(sys.argv[2])))
if sys.argv[1] == "tcp":
    server.listen()
time.sleep(60)
"""


def test_only_sockets_that_wait_for_peers_count():
    rows = [ROW.format(n=0, state="0A", inode=71), ROW.format(n=1, state="01", inode=72)]
    assert servers._sockets("tcp", HEAD + "".join(rows)) == ["71"]
    rows = [ROW.format(n=0, state="07", inode=81), ROW.format(n=1, state="01", inode=82)]
    assert servers._sockets("udp6", HEAD + "".join(rows)) == ["81"]


def test_a_table_that_is_cut_or_empty_is_read_as_far_as_it_goes():
    assert servers._sockets("tcp", "") == []
    assert servers._sockets("tcp", HEAD + "   0: 0100007F:1F90 00000000:0000 0A 0000") == []


def test_a_listener_of_the_rdma_connection_manager_counts():
    link = "link mlx5_0/1 qp-type RC state {} ps TCP pid 3501 comm ib_write_bw src-addr {} \n"
    text = link.format("LISTEN", "0.0.0.0:18515") + link.format("CONNECT", "10.0.0.1:7174")
    assert servers._RDMA_LISTENER.findall(text) == [("3501", "0.0.0.0:18515")]


class Warned(LoggingReporter):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, line: str) -> None:
        self.warnings.append(line)


@pytest.fixture
def start() -> Callable[..., list[str]]:
    """Start a server of this machine; what was warned of. The watch reads no port."""

    def started(
        *argv: str | tuple[str, ...], then: Callable[[], object] = lambda: None
    ) -> list[str]:
        each = [one for one in argv if isinstance(one, tuple)] or [argv]
        wanted = [Companion("", one) for one in each]
        reporter = Warned()
        with Watch(Target(hosts=(), start_on=()), dict(os.environ), 1.0, reporter) as watch:
            servers.start_servers(watch, wanted, NOWHERE, reporter)
            then()
        return reporter.warnings

    return started


def test_a_listener_counts_for_the_processes_that_hold_it():
    waiting, rdma = {"71", "72"}, {("31", "0.0.0.0:18515")}
    assert servers._owned("30\n30 71\n30 99\n", waiting, rdma) == {"71"}
    assert servers._owned("31\n", waiting, rdma) == {"31 0.0.0.0:18515"}
    assert servers._owned("30\n30 99\n", waiting, rdma) == frozenset()
    assert servers._owned("", waiting, rdma) == frozenset(), "it has not started yet"


def test_sockets_that_are_hidden_are_not_taken_for_none():
    assert servers._owned(None, {"71"}, set()) is None, "the program is missing on the host"
    assert servers._owned("30\n32 ?\n", {"71"}, set()) is None, "sudo runs the server"
    assert servers._owned("30\n30 71\n32 ?\n", {"71"}, set()) == {"71"}


def connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port)).close()


@pytest.mark.engine
def test_a_port_that_another_program_opens_meanwhile_does_not_start_the_command(start):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    opens = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); time.sleep(60)"
    other = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep(0.3); {opens}"])
    try:
        assert start(sys.executable, "-c", LATE, "tcp", str(port), then=lambda: connect(port)) == []
    finally:
        other.kill()
        other.wait()


@pytest.mark.engine
def test_of_two_servers_each_must_listen(start, monkeypatch):
    monkeypatch.setattr(servers, "PATIENCE_S", 0.5)
    two = "import socket, time; a = [socket.create_server(('', 0)) for _ in '12']; time.sleep(60)"
    argv = [(sys.executable, "-c", text) for text in (two, "import time; time.sleep(60)")]
    assert [line.split(" on ")[0] for line in start(*argv)] == [sys.executable]


@pytest.mark.engine
def test_where_the_sockets_are_hidden_any_new_port_counts_and_it_is_named(start, monkeypatch):
    monkeypatch.setattr(servers, "_owned", lambda *_: None)
    opens = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); time.sleep(60)"
    (warning,) = start(sys.executable, "-c", opens)
    assert "perhaps by another program" in warning


@pytest.mark.engine
@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_a_server_that_opens_its_port_late_is_waited_for(start, kind):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def taken_port() -> None:
        if kind == "tcp":
            connect(port)
            return
        with socket.socket(type=socket.SOCK_DGRAM) as taken, pytest.raises(OSError, match="use"):
            taken.bind(("127.0.0.1", port))

    assert start(sys.executable, "-c", LATE, kind, str(port), then=taken_port) == []


@pytest.mark.engine
@pytest.mark.parametrize(
    ("script", "named"),
    [
        ("import time, sys; time.sleep(0.7); sys.exit('port 7 is taken')", "port 7 is taken"),
        ("print('no such\\x1b[31m device'); raise SystemExit(3)", "no such device"),
        ("", "foreground"),
        ("raise SystemExit(9)", "status 9"),
    ],
)
def test_a_server_that_ends_early_is_named_with_its_last_line(start, script, named):
    with pytest.raises(CouldNotMeasure, match=named):
        start(sys.executable, "-c", script)


@pytest.mark.engine
def test_a_server_that_opens_no_port_is_named_and_the_command_starts(start, monkeypatch):
    monkeypatch.setattr(servers, "PATIENCE_S", 0.5)
    assert len(start(sys.executable, "-c", "import time; time.sleep(60)")) == 1
