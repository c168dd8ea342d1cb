"""What this Slurm offers for starting an MPI: the plugins of srun, its version, the library that
Intel MPI needs.

``slurm_requests`` is the entry: from a request that only says "in this Slurm job" to the ways that
can start it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from wireproof.launch.request import LaunchRequest
from wireproof.launch.schedulers.slurm import SlurmFound, slurm_ways, way_request
from wireproof.launch.schedulers.slurm_commands import job_argv, parse_job

__all__ = ["find_slurm", "parse_plugins", "parse_version", "slurm_requests"]

_TIMEOUT_S = 15.0
_PLUGIN = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_NAMES = ("libpmi2.so", "libpmi2.so.0")
_FOLDERS = (
    "/usr/lib64",
    "/usr/lib64/slurm",
    "/usr/lib/*-linux-gnu",
    "/usr/lib",
    "/usr/local/lib",
    "/opt/slurm/lib*",
)


def parse_plugins(text: str) -> tuple[str, ...]:
    """Names out of ``srun --mpi=list`` (22.05: one a line below a heading; before: each after
    ``srun: ``).
    """
    found: list[str] = []
    for line in text[: 1 << 16].splitlines():
        words = line.removeprefix("srun: ").strip()
        if ":" in words:
            words = words.partition(":")[2]  # specific pmix plugin versions available: pmix_v4
        found += (
            [word for word in words.replace(",", " ").split() if _PLUGIN.fullmatch(word)]
            if "..." not in line
            else []
        )
    return tuple(dict.fromkeys(found))


def parse_version(text: str) -> tuple[int, int]:
    """(22, 5) of ``slurm-wlm 22.05.8``; (0, 0) when it does not say."""
    found = re.search(r"\b([0-9]{1,3})\.([0-9]{1,3})", text[:4096])
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def _said(argv: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return (
        (done.stdout + b"\n" + done.stderr)[: 1 << 16].decode("utf-8", "replace")
        if done.returncode == 0
        else ""
    )


def _pmi2_library() -> str:
    """Slurm's libpmi2 beside srun's prefix or where distributions put it; it must be there on the
    nodes too.
    """
    srun = shutil.which("srun")
    beside = (
        [str(Path(srun).resolve().parent.parent / name) for name in ("lib64", "lib", "lib64/slurm")]
        if srun
        else []
    )
    for pattern in (*beside, *_FOLDERS):
        for folder in sorted(Path("/").glob(pattern.lstrip("/")))[:8]:
            for name in _NAMES:
                if (folder / name).is_file():
                    return str(folder / name)
    return ""


def find_slurm(through: Sequence[str] = ()) -> SlurmFound:
    """Ask srun; what it does not say is empty. ``through`` as in ``JobRequest``."""
    return SlurmFound(
        plugins=parse_plugins(_said([*through, "srun", "--mpi=list"])),
        version=parse_version(_said([*through, "srun", "--version"])),
        pmi2_library=_pmi2_library(),
    )


def _job_hosts(job: str, through: Sequence[str]) -> tuple[str, ...]:
    info = parse_job(_said([*through, *job_argv(job)])) if job else None
    return info.hosts if info else ()


def slurm_requests(
    request: LaunchRequest, *, job_hosts: Sequence[str] = (), through: Sequence[str] = ()
) -> list[tuple[LaunchRequest, str]]:
    """(request for ``build_command``, why in one sentence) for each way to start ``request`` in its
    Slurm job.

    The first is the choice, the next the fallback when it ends as ``not-started``.
    ``request.starter`` is the wish. ``job_hosts``: all nodes of the job; Slurm is asked when there
    is none. Raises ``BadInput`` when there is no way.
    """
    hosts = tuple(job_hosts) or _job_hosts(request.job, through)
    ways = slurm_ways(request, find_slurm(through), job_hosts=hosts, wanted=request.starter)
    return [(way_request(request, way), f"started by {way.name}: {way.why}") for way in ways]
