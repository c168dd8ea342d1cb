"""A gate's verdict in the format that its caller expects: text and exit status.

In every dialect only a pass counts as healthy; a result that is inconclusive, too old or missing
does not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from wireproof.model.errors import BadInput
from wireproof.model.finding import Verdict
from wireproof.model.run import Gate
from wireproof.report.gate.documents import ctrf, gate_json, junit, sarif
from wireproof.report.gate.lines import nagios, nhc, node_problem, openmetrics, plain

__all__ = ["DIALECTS", "Dialect", "dialect"]


@dataclass(frozen=True)
class Dialect:
    """A format for one kind of ``caller``: the text of a verdict, and the exit status for each
    verdict.
    """

    caller: str
    text: Callable[[Gate], str]
    status: Mapping[Verdict, int]


_OURS: Mapping[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3}
_SHUT: Mapping[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 1}

DIALECTS: Mapping[str, Dialect] = {
    "text": Dialect("people: one line", plain, _OURS),
    "json": Dialect("programs: the verdict of each node", gate_json, _OURS),
    "nagios": Dialect(
        "Nagios, Icinga, Checkmk: CRITICAL 2, UNKNOWN 3",
        nagios,
        {"pass": 0, "fail": 2, "inconclusive": 3},
    ),
    "nhc": Dialect("LBNL Node Health Check: check_cmd_status -r 0", nhc, _SHUT),
    "slurm": Dialect("Slurm's prolog or HealthCheckProgram: 0 or 1", plain, _SHUT),
    "npd": Dialect(
        "Node Problem Detector, custom plugin: NonOK 1, Unknown 2",
        node_problem,
        {"pass": 0, "fail": 1, "inconclusive": 2},
    ),
    "openmetrics": Dialect(
        "node_exporter's text file, Prometheus",
        openmetrics,
        {"pass": 0, "fail": 0, "inconclusive": 0},
    ),
    "junit": Dialect("CI: JUnit XML", junit, _OURS),
    "ctrf": Dialect("CI: Common Test Report Format", ctrf, _OURS),
    "sarif": Dialect("code scanners: SARIF 2.1.0", sarif, _OURS),
}
"""The dialects by name. A metrics file carries the verdict as data, so its exit status only reports
whether it was written.
"""


def dialect(name: str) -> Dialect:
    """Return the dialect; raise ``BadInput`` with the known names if there is none."""
    if name not in DIALECTS:
        near = get_close_matches(name, DIALECTS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(DIALECTS)}."
        raise BadInput(f"there is no dialect {name[:40]!r}; {hint}")
    return DIALECTS[name]
