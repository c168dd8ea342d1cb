"""Two virtual machines with soft-RoCE, joined by a pair of sockets, and an ``ssh`` that reaches
them by name.
"""

import contextlib
import dataclasses
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.processes import ran
from tests.vm.kernel import fetch

NAMES = ("v1", "v2")
BOOT_S = 120.0
LIFE_S = 420
"""However this process ends, no virtual machine lives longer."""


@dataclasses.dataclass(frozen=True)
class Machines:
    """``agent`` is a program that is called like ssh. ``release`` is the kernel's."""

    folder: Path
    release: str

    @property
    def agent(self) -> str:
        return str(self.folder / "agent")

    def address(self, name: str) -> str:
        return fabric_address(name)

    def run(self, name: str, command: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """The command line in the machine, bounded in time."""
        return ran([self.agent, name, command], stdin=subprocess.DEVNULL, timeout=seconds)

    def say(self, name: str, command: str) -> str:
        """What the command wrote; it must end well."""
        done = self.run(name, command)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return done.stdout


def fabric_address(name: str) -> str:
    return f"10.30.1.{NAMES.index(name) + 1}"


def _control(name: str, host: int) -> str:
    """On the network between one machine and this one alone, where .2 leads to our loopback."""
    return f"10.0.{NAMES.index(name) + 11}.{host}"


def qemu_argv(
    name: str, port: int, fabric: int, folder: Path, kernel: Path, initramfs: Path
) -> list[str]:
    """The virtual machine: software emulation, no right of root, ended with us and after ``LIFE_S``
    at the latest.

    ``fabric`` is the descriptor of the socket that is its cable, ``port`` is ours for its sshd.
    """
    number = NAMES.index(name) + 1
    words = (
        f"vm.name={name} vm.life={LIFE_S} vm.fabric={fabric_address(name)}/24 "
        f"vm.control={_control(name, 15)}/24"
    )
    share = "security_model=none,readonly=on,multidevs=remap"
    line = f"console=ttyS0 panic=-1 mitigations=off no_timer_check net.ifnames=0 {words}"
    forward = f"hostfwd=tcp:127.0.0.1:{port}-:22"
    control = f"user,id=control,ipv6=off,net={_control(name, 0)}/24,{forward}"
    mac = f"0{number},romfile="
    return [
        *f"setpriv --pdeathsig TERM timeout -k 5 {LIFE_S} setpriv --pdeathsig KILL".split(),
        *("qemu-system-x86_64", "-accel", "tcg,tb-size=128", "-cpu", "max", "-m", "1024"),
        *("-smp", "1", "-display", "none", "-nodefaults", "-no-user-config", "-no-reboot"),
        *("-serial", f"file:{folder / name}.log", "-kernel", str(kernel)),
        *("-initrd", str(initramfs), "-append", line),
        *("-netdev", f"socket,id=fabric,fd={fabric}"),
        *("-device", f"virtio-net-pci,netdev=fabric,mac=52:54:00:30:01:{mac},host_mtu=9000"),
        *("-netdev", control, "-device", f"virtio-net-pci,netdev=control,mac=52:54:00:10:01:{mac}"),
        *("-virtfs", f"local,path=/,mount_tag=files,{share}"),
        *("-virtfs", f"local,path={folder / 'session'},mount_tag=session,{share}"),
    ]


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _lay_session(folder: Path, ports: dict[str, int]) -> None:
    """What both sides read: keys made for this time only, sshd's and ssh's settings, the machines'
    hosts files.
    """
    session = folder / "session"
    session.mkdir(parents=True)
    for file in (session / "host", folder / "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True, timeout=30
        )
    (session / "authorized").write_bytes((folder / "user.pub").read_bytes())
    (session / "sshd").write_text(
        "HostKey /run/vm/host\nAuthorizedKeysFile /run/vm/authorized\n"
        "StrictModes no\nUsePAM no\nPidFile none\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        "PermitRootLogin yes\nUseDNS no\nPrintMotd no\nPrintLastLog no\n",
        encoding="utf-8",
    )
    # sshd lets nobody in whose account is locked, or whose entry it cannot read; ours has no
    # password either.
    (session / "shadow").write_text("root:*:20000:0:99999:7:::\n", encoding="utf-8")
    everybody = "".join(f"{fabric_address(name)} {name}\n" for name in NAMES)
    for name in NAMES:
        here = f"127.0.0.1 localhost\n{_control(name, 2)} {socket.gethostname()}\n"
        (session / f"hosts.{name}").write_text(here + everybody, encoding="utf-8")
    key = " ".join((session / "host.pub").read_text(encoding="utf-8").split()[:2])
    (folder / "known").write_text(f"vm {key}\n", encoding="utf-8")
    common = (
        "Host *\n  HostName 127.0.0.1\n  HostKeyAlias vm\n  User root\n"
        f"  IdentityFile {folder}/user\n  IdentitiesOnly yes\n  IdentityAgent none\n"
        f"  UserKnownHostsFile {folder}/known\n  GlobalKnownHostsFile none\n"
        "  StrictHostKeyChecking yes\n  BatchMode yes\n  LogLevel ERROR\n  ConnectTimeout 20\n"
    )
    ways = "".join(f"Host {name}\n  Port {port}\n" for name, port in ports.items())
    (folder / "ssh.conf").write_text(ways + common, encoding="utf-8")
    (folder / "agent").write_text(
        f'#!/bin/sh\nexec ssh -F {folder}/ssh.conf "$@"\n', encoding="utf-8"
    )
    (folder / "agent").chmod(0o755)


def _wait_until_ready(
    folder: Path, started: dict[str, subprocess.Popen[bytes]], deadline: float
) -> None:
    for name, process in started.items():
        log = folder / f"{name}.log"
        while not log.exists() or "READY" not in log.read_text(encoding="utf-8", errors="replace"):
            said = log.read_text(encoding="utf-8", errors="replace")[-800:] if log.exists() else ""
            if process.poll() is not None:
                errors = (folder / f"{name}.err").read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(
                    f"qemu of {name} ended with {process.returncode}: {errors[-800:]}{said}"
                )
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} is not up after {BOOT_S:.0f} s: {said}")
            time.sleep(0.1)


def _start(argv: Sequence[str], cable: socket.socket, errors: Path) -> subprocess.Popen[bytes]:
    with errors.open("wb") as sink:
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            pass_fds=[cable.fileno()],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": os.environ.get("HOME", "/")},
        )


@contextlib.contextmanager
def booted(folder: Path) -> Iterator[Machines]:
    """Both machines, up and reachable; on leaving they are gone."""
    kernel, initramfs, release = fetch()
    ports = {name: _free_port() for name in NAMES}
    _lay_session(folder, ports)
    started: dict[str, subprocess.Popen[bytes]] = {}
    cables = dict(zip(NAMES, socket.socketpair(), strict=True))
    try:
        for name, cable in cables.items():
            argv = qemu_argv(name, ports[name], cable.fileno(), folder, kernel, initramfs)
            started[name] = _start(argv, cable, folder / f"{name}.err")
        for cable in cables.values():
            cable.close()
        _wait_until_ready(folder, started, time.monotonic() + BOOT_S)
        yield Machines(folder, release)
    finally:
        for process in started.values():
            process.terminate()
        for process in started.values():
            process.wait(timeout=20)
