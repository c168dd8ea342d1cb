"""Whether a text is a recipe at all: something in it must be what a rule could look at."""

from __future__ import annotations

from wireproof.lint.files.nearest import listed
from wireproof.lint.kinds import detected, kind_of_line
from wireproof.lint.rule import Recipe
from wireproof.lint.script.job import jobs
from wireproof.lint.script.known_variables import KNOWN
from wireproof.lint.script.launch import BENCHMARK
from wireproof.lint.shell import commands
from wireproof.lint.shell.wrap import LAUNCHERS

__all__ = ["is_recipe"]

_PROGRAMS = LAUNCHERS | listed(
    "srun sbatch salloc qsub bsub flux ssh pdsh clush xdsh psh sudo module ml export setenv source"
    " iperf iperf3 netperf qperf sockperf ucx_info fi_info numactl taskset"
    " modprobe sysctl grub2-mkconfig grub-mkconfig grubby dracut systemctl service dnf yum rpm"
    " microdnf apt apt-get opaconfig opafm opareport ulimit irqbalance ping ping6 ip ifconfig ifup"
    " nmcli ethtool mlnx_qos cma_roce_mode mlxconfig cpupower tuned-adm mount exportfs chdef mkdef"
    " makehosts makedns nodeset xcatprobe ntpdate chronyc timedatectl setenforce wwsh wireproof"
    " opensm ibstat ibdiagnet teamdctl tc"
)
_BATCH = ("#SBATCH", "#PBS", "#BSUB", "#flux:")


def is_recipe(text: str, name: str) -> bool:
    """Whether the path tells what the file is, or a line is a batch option, a line of a
    configuration file, a variable or a command that rules are about. A log, a table or a list of
    users has none: "no problems found" would be a judgement of nothing.
    """
    lines = tuple(line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    kind = detected(name, lines)
    if kind != "unknown":
        return True
    if any(line.startswith(_BATCH) or kind_of_line(line) for line in lines):
        return True
    recipe = Recipe(name, "script", lines)
    if any(_is_known(command.program) for command in commands(recipe)):
        return True
    return any(_is_variable(each.name) for job in jobs(recipe) for each in job.settings)


def _is_known(program: str) -> bool:
    return program in _PROGRAMS or BENCHMARK.match(program) is not None


def _is_variable(name: str) -> bool:
    return any(name.startswith(prefix) for prefix in KNOWN)
