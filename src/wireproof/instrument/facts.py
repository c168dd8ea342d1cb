"""Collect raw facts of many hosts: the engine's ``facts`` on each, without Python there."""

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import msgspec

from wireproof.files.programs import by_path
from wireproof.instrument.plan_text import write_requests
from wireproof.model.frames import BadFrame, decode_frame
from wireproof.model.plan import FactRequest
from wireproof.model.record import FactFrame
from wireproof.model.secrets import clean_text, masked

FANOUT = 32
PATIENCE_S = 30.0
_OWN_LISTS = ("interfaces", "pci")
_ASSIGNED = re.compile(r"[ \t]*\w+[ \t]*=.*")
_NETWORK = re.compile(
    r"(?i)[ \t]*(?:\[[^]]*\]|iface\s.*|[\w.-]+:"
    r"|(?:interface-name|autoconnect|mtu|mtubytes|name|originalname|unmanaged|device|onboot|startmode"
    r"|set-name)[ \t]*[=: \t].*)[ \t]*"
)
_KEPT_LINES = {
    "/etc/slurm/slurm.conf": _ASSIGNED,
    **dict.fromkeys(("/etc/NetworkManager/", "/run/NetworkManager/"), _NETWORK),
    **dict.fromkeys(("/usr/lib/NetworkManager/", "/etc/sysconfig/network"), _NETWORK),
    **dict.fromkeys(("/etc/netplan/", "/run/netplan/", "/usr/lib/netplan/"), _NETWORK),
    "/etc/network/": _NETWORK,
}
"""Files, by the beginning of their path, of which only such lines are kept, because other lines
contain passwords of wireless networks and databases.
"""
LARGEST = 32 << 20
"""Largest answer of a host in bytes."""


@dataclass(frozen=True)
class Collected:
    """The answer of a host; ``problem`` if it did not answer, or not completely."""

    host: str
    frames: Sequence[FactFrame] = ()
    problem: str = ""


def collect(
    argv_of: Mapping[str, Sequence[str]],
    requests: Sequence[FactRequest],
    progress: Callable[[Collected], None] | None = None,
) -> list[Collected]:
    """Query every host, ``FANOUT`` at a time. ``argv_of``: the command that runs the engine's
    ``facts`` on a host. A host that does not answer in ``PATIENCE_S`` is named and skipped.
    """
    spec = write_requests(requests).encode()

    def one(item: tuple[str, Sequence[str]]) -> Collected:
        found = _one(*item, spec)
        if progress is not None:
            progress(found)
        return found

    with ThreadPoolExecutor(min(FANOUT, max(1, len(argv_of)))) as pool:
        return list(pool.map(one, argv_of.items()))


def _one(host: str, argv: Sequence[str], spec: bytes) -> Collected:
    try:
        done = subprocess.run(
            **by_path(argv), input=spec, capture_output=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Collected(host, problem=f"it did not answer within {PATIENCE_S:g} s")
    except OSError as error:
        return Collected(host, problem=f"{argv[0]} cannot be started: {error.strerror}")
    frames = _frames(done.stdout[:LARGEST])
    if done.returncode == 0 and frames:
        return Collected(host, frames)
    said = clean_text(done.stderr[-400:], 200)
    last = f": {said}" if said else ""
    return Collected(host, frames, f"its facts ended with status {done.returncode}{last}")


def without_secrets(frame: FactFrame) -> FactFrame:
    """Return the frame with secrets masked; the engine's lists contain none."""
    if frame.path in _OWN_LISTS:
        return frame
    text, reason = masked(frame.text), masked(frame.reason)
    kept = (lines for path, lines in _KEPT_LINES.items() if frame.path.startswith(path))
    if frame.kind == "file" and (lines := next(kept, None)):
        text = "".join(f"{line}\n" for line in text.splitlines() if lines.fullmatch(line))
    if (text, reason) == (frame.text, frame.reason):
        return frame
    return msgspec.structs.replace(frame, text=text, reason=reason)


def _frames(output: bytes) -> tuple[FactFrame, ...]:
    """Return the complete lines that are facts; torn or foreign lines are left out."""
    found = []
    for line in output.split(b"\n"):
        try:
            frame = decode_frame(line) if line.startswith(b"{") else None
        except BadFrame:
            continue
        if isinstance(frame, FactFrame):
            found.append(without_secrets(frame))
    return tuple(found)
