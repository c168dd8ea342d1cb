"""Which value of an attribute is asked for: one that the BMC lists, in its own words."""

import json
from typing import Any

import pytest

from wireproof.audit.facts import HostFacts
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.model.record import FactFrame
from wireproof.model.setting import Profile
from wireproof.model.tuning import PlannedAttribute
from wireproof.tune.wishes import FirmwareWish, Named, firmware_wishes

XEON = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\nstepping\t: 2\nflags\t\t: fpu\n"
SWITCH = [["0", "Disable"], ["1", "Enable"]]
PROFILES = [["Dapc", "Performance Per Watt (DAPC)"], ["Perf", "Performance"], ["Custom", "Custom"]]


def wishes(
    display: str,
    now: Any,
    values: list[Any] | None,
    asked: list[Named],
    *,
    pending: Any = None,
    profile: Profile = "latency",
    **more: Any,
) -> list[FirmwareWish]:
    texts = {"/proc/cpuinfo": XEON, "bios": json.dumps({"attributes": {"A": now}})}
    if values is not None:
        entry = {"AttributeName": "A", "DisplayName": display, "Value": values, **more}
        texts["bios/registry"] = json.dumps({"attributes": [entry]})
    else:
        texts["bios"] = json.dumps({"attributes": {display: now}})
    if pending is not None:
        texts["bios/pending"] = json.dumps({"attributes": {"A": pending}})
    frames = [
        FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
        for path, text in texts.items()
    ]
    return firmware_wishes(machine_of(HostFacts.of("n1", frames)), catalogue(), profile, asked)


SMT, TURBO, POLICY = (Named(f"bios-{name}") for name in ("smt", "turbo", "power-policy"))


@pytest.mark.parametrize(
    ("display", "now", "values", "asked", "wanted"),
    [
        ("Hyper-Threading [ALL]", "1", SWITCH, SMT, "0"),
        ("Hyper-Threading [ALL]", "1", SWITCH, Named("bios-smt", value="Disabled"), "0"),
        ("Hyper-Threading [ALL]", "0", SWITCH, Named("bios-smt", value="enable"), "1"),
        ("Hyper-Threading [ALL]", "0", SWITCH, Named("bios-smt", value="1"), "1"),
        ("Turbo Mode", "Off", [["Off", "Off"], ["Auto", "Auto"], ["On", "On"]], TURBO, "On"),
        ("Logical Processor", True, [], SMT, False),
        ("Logical Processor", "Enable", None, SMT, "Disable"),
        (
            "System Profile",
            "Dapc",
            PROFILES,
            Named("bios-power-policy", value="Performance"),
            "Perf",
        ),
    ],
)
def test_the_value_is_in_the_bmc_s_own_words(
    display: str, now: Any, values: list[Any] | None, asked: Named, wanted: Any
) -> None:
    ((_, change),) = wishes(display, now, values, [asked])
    assert isinstance(change, PlannedAttribute), change
    assert change.wanted == wanted
    assert isinstance(change.wanted, type(wanted))
    assert (change.was, change.pending) == (now, now)


@pytest.mark.parametrize(
    ("display", "now", "values", "asked", "why"),
    [
        ("System Profile", "Dapc", PROFILES, POLICY, "no single value is recommended"),
        (
            "System Profile",
            "Dapc",
            PROFILES,
            Named("bios-power-policy", value="Fast"),
            "'Fast' is not one of",
        ),
        ("Turbo Mode", "1", SWITCH, Named("bios-turbo", value="Enabled"), "already has that value"),
    ],
)
def test_what_cannot_be_chosen_is_left_with_the_reason(
    display: str, now: Any, values: list[Any], asked: Named, why: str
) -> None:
    ((_, reason),) = wishes(display, now, values, [asked])
    assert isinstance(reason, str)
    assert why in reason


def test_only_what_fails_is_asked_for() -> None:
    assert wishes("Hyper-Threading", "0", SWITCH, []) == []
    ((name, _),) = wishes("Hyper-Threading", "1", SWITCH, [])
    assert name == "bios-smt"


def test_what_is_pending_already_is_not_asked_for_again() -> None:
    assert wishes("Hyper-Threading", "1", SWITCH, [], pending="0") == []


def test_what_can_only_be_read_is_left() -> None:
    ((_, reason),) = wishes("Hyper-Threading", "1", SWITCH, [SMT], ReadOnly=True)
    assert isinstance(reason, str)
    assert "only be read" in reason


def test_without_a_bmc_there_is_nothing_to_ask_for() -> None:
    facts = HostFacts.of(
        "n1", [FactFrame(rank=0, kind="file", status="ok", path="/proc/cpuinfo", text=XEON)]
    )
    assert firmware_wishes(machine_of(facts), catalogue(), "latency") == []
