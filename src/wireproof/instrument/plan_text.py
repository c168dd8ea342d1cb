"""Write the text form of plans (docs/reference/engine-interface.md). Pure."""

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import msgspec

from wireproof.files.programs import by_path
from wireproof.model.frames import BadFrame, decode_frame
from wireproof.model.pattern import TWO_FORMS, is_remote
from wireproof.model.plan import FactRequest, Plan, Point
from wireproof.model.record import FactFrame
from wireproof.model.secrets import clean_text, masked

_RESERVED = frozenset(b"%= ,")


def encode_value(text: str) -> str:
    """Percent-encode characters that would break a line or a list: space, %, =, comma and control
    characters.
    """
    return "".join(
        chr(byte) if 32 < byte < 127 and byte not in _RESERVED else f"%{byte:02X}"
        for byte in text.encode("utf-8", "surrogateescape")
    )


def _statement(keyword: str, struct: msgspec.Struct | None = None, **fields: object) -> str:
    """Return a line with the fields of ``struct`` and ``fields``, texts encoded and lists joined by
    commas. Fields that are None or empty are left out (the engine uses its default).
    """
    named = {**(msgspec.to_builtins(struct) if struct is not None else {}), **fields}
    texts = {key: _written(value) for key, value in named.items() if value is not None}
    return " ".join([keyword, *(f"{key}={text}" for key, text in texts.items() if text)])


def _written(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_written, value))
    return encode_value(value) if isinstance(value, str) else str(value)


def _pairs(pairs: Iterable[tuple[int, int]]) -> list[str]:
    return [f"{origin}-{target}" for origin, target in pairs]


def _ranks(members: Sequence[int]) -> list[str]:
    """Return ``0:3`` and ``8``: consecutive ranks as ranges, because a list of ten thousand is
    long.
    """
    runs: list[list[int]] = []
    for rank in members:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return [f"{first}:{last}" if last > first else str(first) for first, last in runs]


def _point(point: Point) -> str:
    return _statement(
        "point",
        id=point.id,
        pattern=point.pattern,
        form=point.form if point.pattern in TWO_FORMS else None,
        message_bytes=point.message_bytes,
        window=point.window,
        formula=point.formula,
        window_kind=point.window_kind if is_remote(point.pattern) else None,
        repeat=point.repeat or None,
        pairs=_pairs(point.pairs),
        members=_ranks(point.members),
        load=_pairs(point.load),
        load_bytes=point.load_bytes if point.pattern == "congestion" else None,
        order=point.order if point.pattern == "ring" else None,
        blocking=None if point.blocking else 0,
        threads=point.threads if point.threads > 1 else None,
        partitions=point.partitions if point.partitions > 1 else None,
        detail="brief" if point.detail == "brief" else None,
        budget_ms=point.budget_ms,
        iterations=point.iterations or None,
        least_operations=point.least_operations or None,
    )


def _lines(plan: Plan) -> Iterator[str]:
    yield "wireproof-plan 1"
    transport = plan.transport
    yield _statement("run", id=plan.run_id, seed=plan.seed)
    asked = msgspec.to_builtins(transport.ofi) if transport.ofi else {}
    yield _statement("transport", kind=transport.kind, expect=transport.expect, **asked)
    yield from (_statement("rank", place) for place in plan.ranks)
    yield _statement("policy", plan.policy)
    late = [f"{driver}:{ms}" for driver, ms in plan.witness.late]
    yield _statement("witness", plan.witness, late=late)
    if plan.model is not None:
        yield _statement("model", plan.model)
    yield from (_statement("model_fault", fault) for fault in plan.model_faults)
    yield from (_statement("model_counter", counter) for counter in plan.model_counters)
    yield from (_statement("fact", request) for request in plan.facts)
    yield from map(_point, plan.points)


def write_plan(plan: Plan) -> str:
    """Return the text that the engine reads on standard input; it ends with a newline."""
    return "\n".join(_lines(plan)) + "\n"


def write_requests(requests: Iterable[FactRequest]) -> str:
    """Return the input of the engine's ``facts`` command: a plan of which only the requests are
    used.
    """
    facts = (_statement("fact", request) for request in requests)
    return "\n".join(["wireproof-plan 1", *facts, ""])


# --- Collect raw facts of many hosts with the engine's ``facts`` command on each, without Python
# there.


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
"""Files, by the beginning of their path, of which only these lines are kept, because other lines
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
    argv_of: Mapping[str, Sequence[str]], requests: Sequence[FactRequest]
) -> list[Collected]:
    """Query every host, ``FANOUT`` at a time. ``argv_of``: the command that runs the engine's
    ``facts`` on a host. A host that does not answer within ``PATIENCE_S`` is reported and skipped.
    """
    spec = write_requests(requests).encode()
    with ThreadPoolExecutor(min(FANOUT, max(1, len(argv_of)))) as pool:
        return list(pool.map(lambda host: _one(host, argv_of[host], spec), argv_of))


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
    from wireproof.launch.fanout import problem_of

    said = [clean_text(line, 200) for line in done.stderr[-400:].splitlines()]
    problem = problem_of(done.returncode, said, PATIENCE_S)
    return Collected(host, frames, problem or "it returned no facts")


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
    """Return the complete lines that are facts; incomplete and unrelated lines are left out."""
    found = []
    for line in output.split(b"\n"):
        try:
            frame = decode_frame(line) if line.startswith(b"{") else None
        except BadFrame:
            continue
        if isinstance(frame, FactFrame):
            found.append(without_secrets(frame))
    return tuple(found)
