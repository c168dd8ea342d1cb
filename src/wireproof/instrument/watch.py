"""Read a host's port counters while another program runs there, with the engine's ``watch`` command
at the end of a pipe.

The engine exits at the end of its standard input, so it ends with this process or the ssh
connection.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from wireproof.files.programs import by_path
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.frames import unsound
from wireproof.model.secrets import clean_text
from wireproof.model.traffic import CounterMark, Reading, Watched, WatchStart

LONGEST_LINE = 8 << 20
"""Maximum length of a line: a full reading of a NIC with thousands of statistics has a few hundred
kilobytes.
"""
TALK_BYTES = 4096
END_SECONDS = 3.0
CHUNK = 1 << 16
_JITTER = 0.05
_BYTES = ("_bytes", "_bytes_cnt", "Octets", "_octets", "/port_xmit_data", "/port_rcv_data")


def watch_argv(
    engine: Path, interval_s: float, *, root: str = "", prefix: Sequence[str] = ()
) -> list[str]:
    """Return the engine's command line, started through the words of ``prefix``; intervals are in
    whole milliseconds. ``root``: the folder whose files are read instead of those of the machine.
    """
    where = ["--root", root] if root else []
    return [
        *prefix,
        str(engine),
        "watch",
        "--interval-ms",
        str(max(1, round(interval_s * 1000))),
        *where,
    ]


class _Rates:
    """Peak rate of a counter: between readings, and between changes of its value.

    Some drivers update a counter only once a second: without the second rate, all bytes of a second
    would seem to have passed in a single interval.
    """

    LAGGING_INTERVALS = 2.5
    LEAST_CHANGES = 3

    def __init__(self, since_ns: int) -> None:
        self.between_readings = self.between_changes = 0.0
        self.shortest_ns = 0.0
        self.changes = 0
        self.changed_ns = since_ns

    def rose(self, rise: int, before_ns: int, now_ns: int) -> None:
        gap = now_ns - self.changed_ns
        self.between_readings = max(self.between_readings, rise * 1e9 / (now_ns - before_ns))
        if self.changes:
            self.between_changes = max(self.between_changes, rise * 1e9 / gap)
            self.shortest_ns = min(self.shortest_ns or gap, gap)
        self.changes += 1
        self.changed_ns = now_ns

    def peak(self, interval_ns: float) -> float:
        lags = (
            self.changes >= self.LEAST_CHANGES
            and self.shortest_ns > self.LAGGING_INTERVALS * interval_ns
        )
        return self.between_changes if lags else self.between_readings


class Follower:
    """Reads the lines of a watch: current values, the last three requested marks (``readings``:
    their number), and peak rates. Starts no process.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self.about: WatchStart | None = None
        self.marks: list[CounterMark] = []
        self.aside: list[CounterMark] = []
        self.readings = 0
        self.error = ""
        self._rates: dict[str, _Rates] = {}
        self._fell: set[str] = set()
        self._values: dict[str, int] = {}
        self._base: tuple[int, dict[str, int]] = (0, {})
        self._gap_ns = 0
        self.settled_s = 0.0
        self._rest = b""
        self._decoder = msgspec.json.Decoder(WatchStart | Reading)

    def feed(self, data: bytes) -> None:
        """Read complete lines and keep the rest; an unexpected line sets ``error``."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            self._rest, self.error = b"", "the watch sent a line without an end"
        for line in lines:
            if self.error:
                return
            # A login shell may print a greeting before the program starts.
            if line.strip() and (line.startswith(b"{") or self.about is not None):
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            frame = self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self.error = (
                f"the watch sent a line that is not a reading ({clean_text(str(error).encode())})"
            )
            return
        if why := unsound(frame):
            self.error = f"the watch sent an impossible number: {clean_text(why.encode())}"
        elif isinstance(frame, WatchStart):
            self.about = frame
        elif self.about is None:
            self.error = "the watch did not report the host of its counters"
        else:
            self._read(frame)

    def _read(self, frame: Reading) -> None:
        self._values.update(frame.counters)
        for name in frame.lost:
            self._values.pop(name, None)
        self._peak(frame.t_ns)
        if frame.asked or not self.marks:
            # A trial requests two marks for each of its runs: only those that `watched` needs are
            # kept.
            self.marks = [
                *self.marks[-3:],
                CounterMark(t_ns=frame.t_ns, counters=dict(self._values)),
            ]
            self.readings += 1

    def _peak(self, t_ns: int) -> None:
        """Compute rates over at least half an interval: between two readings close to each other,
        the rate would be only noise.
        """
        then, before = self._base
        interval_ns = (self.about.interval_ms if self.about else 0) * 1e6
        if before and t_ns - then < interval_ns / 2:
            return
        self._gap_ns = max(self._gap_ns, t_ns - then) if before else self._gap_ns
        now = {name: value for name, value in self._values.items() if name.endswith(_BYTES)}
        for name, value in now.items() if before else ():
            rise = value - before.get(name, value)
            if rise < 0 and _is_reset(before[name], value):
                self._fell.add(name)
            elif rise > 0:
                self._rates.setdefault(name, _Rates(then)).rose(rise, then, t_ns)
        self._base = (t_ns, now)

    @property
    def peaks(self) -> dict[str, float]:
        """Return counts per second, by counter."""
        interval_ns = (self.about.interval_ms if self.about else 0) * 1e6
        return {name: rates.peak(interval_ns) for name, rates in self._rates.items()}

    def forget_peaks(self) -> None:
        """Discard the peaks before the command."""
        self._rates, self._fell = {}, set()
        self._gap_ns = 0

    def set_aside(self) -> None:
        """Keep the last mark separate: it only shows when other traffic changed the counters."""
        self.marks, self.aside = self.marks[:-1], [*self.aside[-2:], *self.marks[-1:]]

    def watched(self) -> Watched:
        """Return the result, in which the last three marks are start, before and after."""
        error = self.error
        if not error and len(self.marks) < 3:
            error = "the readings before and after the command are incomplete"
        start, before, after = (*self.marks[-3:], None, None, None)[:3]
        return Watched(
            host=self.host,
            about=self.about,
            start=start,
            before=before,
            after=after,
            aside=self.aside,
            peaks=self.peaks,
            fell=sorted(self._fell),
            gap_s=self._gap_ns / 1e9,
            settled_s=self.settled_s,
            error=error,
        )


def _is_reset(before: int, now: int) -> bool:
    """Return whether a counter that fell was reset: it neither wrapped at 32, 56 or 64 bits, nor
    fell only slightly, as sums over a driver's rings may.
    """
    anew = any(end // 2 <= before < end and now < end // 2 for end in (1 << 32, 1 << 56, 1 << 64))
    return not anew and before - now > _JITTER * before


class Watcher:
    """The process behind a ``Follower``. ``close`` ends it completely."""

    def __init__(self, host: str, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self.follower = Follower(host)
        self.program = argv[-1]
        self._talk = b""
        try:
            self._process = subprocess.Popen(
                **by_path(argv, environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise CouldNotMeasure(f"{argv[0]} cannot be started: {error.strerror}.") from error
        out, talk = self._process.stdout, self._process.stderr
        self.descriptors = (out.fileno() if out else -1, talk.fileno() if talk else -1)
        for descriptor in self.descriptors:
            os.set_blocking(descriptor, False)

    def hear(self, descriptor: int) -> bool:
        """Read available data; return False at the end of the stream."""
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if descriptor == self.descriptors[0]:
            self.follower.feed(data)
            if not data:
                self._lost()
        else:
            self._talk = (self._talk + data)[-TALK_BYTES:]
        return bool(data)

    def _lost(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        with contextlib.suppress(OSError):
            self._talk = (self._talk + os.read(self.descriptors[1], CHUNK))[-TALK_BYTES:]
        status = self._process.poll()
        if not self.follower.error:
            self.follower.error = _reason(status, self._talk)

    def ask(self) -> None:
        """Request a full reading; if the watch has ended, the next read of its output detects
        this.
        """
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(b"read\n")

    def close(self) -> None:
        """End the process: close its standard input, then send signals."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        until = time.monotonic() + END_SECONDS
        for number in (0, signal.SIGTERM, signal.SIGKILL):
            self._process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(max(0.5, until - time.monotonic()))
                break
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def _reason(status: int | None, talk: bytes) -> str:
    said = clean_text(talk, TALK_BYTES)[-300:]
    if status in (126, 127):
        return f"the engine is missing ({said or f'exit status {status}'})"
    if status == 255:
        from wireproof.launch.fanout import problem_of

        return problem_of(status, [said], 0)
    return f"the watch ended with status {status}" + (f": {said}" if said else "")
