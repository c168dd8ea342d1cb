"""``python -m tests.fuzz.drive``: damaged inputs through one reader or all; no crash, no hang, no
write elsewhere.

Logs go through the parsers (``--parser``), the rest through ``--target``. One child process each; a
parser is held to 200 MB of address space and 1 s of processor time for an input, a target to 1 GiB
more than it begins with and 5 s. Input number ``n`` of seed ``s`` is always the same,
so that a failure is found again by ``--only-input n``.
"""

import argparse
import math
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path
from types import FrameType

import msgspec
from tests.fuzz.mutate import damaged, seeds_of
from tests.fuzz.targets import COUNTS, TARGETS, Target
from tests.security.memory import address_space

from wireproof.logs.readers import adapter_names, read
from wireproof.model.errors import BadInput
from wireproof.model.series import Series

MEMORY_BYTES = 200 << 20
TARGET_BYTES = 1 << 30
SECONDS_EACH = 1.0
TARGET_SECONDS = 5.0
SAY_EVERY = 10_000
_OF_A_PARSER = 400
_LONGEST_NAME = 400


class TooSlow(Exception):
    """An input took more than its time."""


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooSlow("it took too long")


def _faults(one: Series) -> str:
    """What a series may never be, whatever was in the file."""
    if one.complete and not one.points:
        return "complete without a point"
    if len(one.benchmark) > _LONGEST_NAME or any(len(host) > _LONGEST_NAME for host in one.hosts):
        return "a name without bound"
    texts = [one.benchmark, one.version, one.incomplete, one.unit_doubt, *one.hosts, *one.notes]
    if any("\x1b" in text or "\x9b" in text for text in texts):
        return "a terminal's escape in a text"
    for point in one.points:
        numbers = [
            point.hrt_ns,
            point.time_ns,
            point.time_min_ns,
            point.time_max_ns,
            point.goodput_bytes_per_s,
            point.messages_per_s,
            *point.percentiles.values(),
            point.time_step_ns,
            point.goodput_step,
        ]
        if any(
            value is not None and not (math.isfinite(value) and value >= 0) for value in numbers
        ):
            return f"a number that is none: {point}"
        if not 0 <= point.message_bytes < 1 << 63:
            return f"a size that is none: {point.message_bytes}"
    return ""


def tried(data: bytes) -> str:
    """Why an input shows a fault; "" when it was read or refused in one sentence."""
    try:
        found = read(data, "fuzz")
        msgspec.json.encode(found)
    except BadInput as refused:
        return "" if "\n" not in str(refused) else f"the refusal has several lines: {refused}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return next((why for why in map(_faults, found) if why), "")


def _parser(tool: str) -> Target | None:
    seeds = seeds_of(tool)
    return Target(lambda choice: damaged(choice, seeds), tried) if seeds else None


def _fault(target: Target, data: bytes, seconds: float) -> str:
    """Why an input shows a fault; whatever escapes the reader is one."""
    signal.setitimer(signal.ITIMER_PROF, 0 if math.isinf(seconds) else seconds)
    try:
        return target.tried(data)
    except MemoryError:
        return "it takes more memory than its bound"
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def run(name: str, count: int, seed: int, keep: Path | None) -> int:
    """Faults among ``count`` inputs of one parser or target, each told on stderr."""
    target = TARGETS.get(name) or _parser(name)
    if target is None:
        print(f"{name}: no golden log to start from", file=sys.stderr)
        return 0
    if name in TARGETS:
        _fault(target, target.make(random.Random(0)), math.inf)  # imports and seeds are no input's
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGPROF, _alarm)
    begun, faults = time.monotonic(), 0
    for index in range(count):
        data = target.make(random.Random(f"{seed}:{name}:{index}"))
        if name in TARGETS:  # anew: DuckDB gives no address back
            limit, hard = address_space() + TARGET_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]
            most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        why = _fault(target, data, TARGET_SECONDS if name in TARGETS else SECONDS_EACH)
        if why:
            faults += 1
            print(f"{name}: input {index} of seed {seed}: {why[:300]}", file=sys.stderr, flush=True)
            if keep is not None:
                (keep / f"{name}-{seed}-{index}.txt").write_bytes(data)
        if index % SAY_EVERY == SAY_EVERY - 1:
            print(f"{name}: {index + 1} inputs so far, {faults} faults", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    spent = time.monotonic() - begun
    print(f"{name}: {count} inputs, {faults} faults, {spent:.1f} s, peak {peak:.0f} MB", flush=True)
    return faults


def _in_child(tool: str, count: int, seed: int, keep: Path | None) -> bool:
    """True when the child ended well and found nothing."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            status = int(run(tool, count, seed, keep) > 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def faults_told(*words: str, seconds: float) -> str:
    """What a run of this program with ``words`` tells: lines of its children and their faults."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.drive", *words],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    return done.stdout


def is_clean(told: str, name: str, count: int) -> bool:
    """Whether all inputs of a parser or target went through, without a fault."""
    return f"\n{name}: {count} inputs, 0 faults, " in f"\n{told}"


def _shared(names: list[str], total: int) -> dict[str, int]:
    weights = {name: COUNTS.get(name, _OF_A_PARSER) for name in names}
    return {
        name: max(1, total * weight // sum(weights.values())) for name, weight in weights.items()
    }


def main(words: list[str]) -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--parser", action="append", choices=adapter_names(), help="this parser only; default: all"
    )
    options.add_argument(
        "--target", action="append", choices=list(TARGETS), help="this target only; default: all"
    )
    options.add_argument("--count", type=int, default=10_000, help="inputs of each")
    options.add_argument(
        "--total", type=int, help="inputs of all together, those of each as its speed allows"
    )
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keep", type=Path, help="folder for the inputs that show a fault")
    options.add_argument(
        "--only-input", type=int, help="print this input of the seed and what it does"
    )
    chosen = options.parse_args(words)
    some = [*(chosen.parser or []), *(chosen.target or [])]
    names = some or [*adapter_names(), *TARGETS]
    if chosen.only_input is not None:
        target = TARGETS.get(names[0]) or _parser(names[0])
        data = target.make(random.Random(f"{chosen.seed}:{names[0]}:{chosen.only_input}"))
        sys.stdout.buffer.write(data)
        signal.signal(signal.SIGPROF, _alarm)
        print(f"\n{target.tried(data) or 'no fault'}", file=sys.stderr)
        return 0
    counts = _shared(names, chosen.total) if chosen.total else dict.fromkeys(names, chosen.count)
    if chosen.keep is not None:
        chosen.keep.mkdir(parents=True, exist_ok=True)
    results = [_in_child(name, counts[name], chosen.seed, chosen.keep) for name in names]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
