"""The servers that a command talks to: it starts once they listen, and not if one has ended."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable

import pytest

from wireproof.model.errors import CouldNotMeasure
from wireproof.workflow.prove import Companion
from wireproof.workflow.prove import hosts as servers
from wireproof.workflow.prove.watch import NOWHERE, Watch
from wireproof.workflow.reporter import LoggingReporter
from wireproof.workflow.target import Target

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

    def started(*argv: str, then: Callable[[], object] = lambda: None) -> list[str]:
        reporter = Warned()
        with Watch(Target(hosts=(), start_on=()), dict(os.environ), 1.0, reporter) as watch:
            servers.start_servers(watch, [Companion("", argv)], NOWHERE, reporter)
            then()
        return reporter.warnings

    return started


@pytest.mark.engine
@pytest.mark.parametrize("kind", ["tcp", "udp"])
def test_a_server_that_opens_its_port_late_is_waited_for(start, kind):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def connect() -> None:
        if kind == "tcp":
            socket.create_connection(("127.0.0.1", port)).close()
            return
        with socket.socket(type=socket.SOCK_DGRAM) as taken, pytest.raises(OSError, match="use"):
            taken.bind(("127.0.0.1", port))

    assert start(sys.executable, "-c", LATE, kind, str(port), then=connect) == []


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
