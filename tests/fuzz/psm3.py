"""PSM3's statistics files, damaged: read and judged, or refused, and nothing of the environment is
let through.
"""

import functools
import random
from pathlib import Path

import msgspec
from tests.fuzz.mutate import damaged

from wireproof.logs.psm3 import is_help, is_statistics
from wireproof.logs.psm3.identify import readback
from wireproof.logs.psm3.statistics import statistics
from wireproof.model.errors import BadInput

GOLDEN = Path(__file__).parents[1] / "golden" / "psm3"
SECRETS = (b"a-secret-of-the-site", b"hunter2", b"s3cr3t-of-the-user", b"0d000000-0c5c")


@functools.cache
def _seeds() -> list[bytes]:
    """Beside the real ones, blocks without the environment: the layout of before."""
    whole = [path.read_bytes() for path in sorted(GOLDEN.rglob("*")) if path.is_file()]
    return [*whole, *(data[data.find(b"Time Delta") :] for data in whole if b"Time Delta" in data)]


def damaged_statistics(choice: random.Random) -> bytes:
    """One real file, damaged; sometimes a line of it stands where it does not belong."""
    data = damaged(choice, _seeds())
    if choice.random() < 0.2:
        lines = data.split(b"\n")
        lines.insert(choice.randrange(len(lines)), choice.choice(lines))
        data = b"\n".join(lines)
    return data


def try_statistics(data: bytes) -> str:
    """Why this input shows a fault; "" when it shows none."""
    from wireproof.logs.document import statistics_section
    from wireproof.logs.psm3.verdict import judge_statistics
    from wireproof.report.text import part_text

    is_help(data)
    shown = msgspec.json.encode(readback(data.decode("utf-8", "replace"), []))
    if is_statistics(data):
        try:
            one = statistics(data, "psm3-perf-stat-n1-pid-10")
        except BadInput as error:
            return _leaked(str(error).encode())
        judged = judge_statistics([one, one], wire=True)
        if judged.verdict == "pass":
            return "two files of one rank pass"
        text = part_text(statistics_section(judged))
        if any(letter in text for letter in "\x1b\x9b\u202e\x07"):
            return "a control character is shown"
        shown += msgspec.json.encode(one) + msgspec.json.encode(judged) + text.encode()
    return _leaked(shown)


def _leaked(shown: bytes) -> str:
    return next((f"{one!r} came out" for one in SECRETS if one in shown), "")
