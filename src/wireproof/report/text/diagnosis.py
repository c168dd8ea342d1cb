"""What works on this machine, for people."""

from __future__ import annotations

from wireproof.model.diagnosis import Answer, Capability, Diagnosis

__all__ = ["diagnosis_lines"]

_MARKS = {True: "ok     ", False: "MISSING", None: "unknown"}


def diagnosis_lines(found: Diagnosis) -> list[str]:
    """The machine, a line for each thing that it can do, and one for each transport tried."""
    machine = found.machine
    who = "root" if machine.root else "an ordinary user"
    lines = [
        f"machine: Linux {machine.kernel}, {machine.architecture}, {machine.cores} cores, {who}"
    ]
    lines += [_capability(one) for one in machine.capabilities]
    if found.transports:
        lines += ["transports and MPIs:", *(_answer(one) for one in found.transports)]
    return lines


def _capability(one: Capability) -> str:
    advice = f"; {one.advice}" if one.advice and one.works is not True else ""
    return f"  {_MARKS[one.works]} {one.name}: {one.detail}{advice}"


def _answer(one: Answer) -> str:
    if not one.works:
        return f"  FAILS   {one.name}: {one.problem}"
    if one.abi == "mpiabi":
        abi = f"standard ABI {one.abi_version}"
    else:
        abi = f"{one.abi} ABI" if one.family else "no MPI"
    engine = f", {one.engine}" if one.engine else ""
    answered = f"answered in {one.seconds} s: {one.library or one.name}"
    return f"  ok      {one.name}: {abi}{engine}, {answered}"
