"""The interrupts of an interface, compared with the cores near it."""

import pytest
from tests.audit.test_conditions import WIRED
from tests.audit.trees import judge_machine

from wireproof.audit.facts import HostFacts
from wireproof.audit.job import catalogue
from wireproof.audit.machine import machine_of
from wireproof.audit.values import AFFINITIES, folded, vectors_of
from wireproof.model.record import FactFrame


def of_interrupts(*cores: str, service: str = "active", kind: str = "effective") -> dict[str, str]:
    """The interrupts of eth0, whose near cores are 0 to 3, by the cores that they go to."""
    lists = "".join(
        f"/proc/irq/{at}/smp_affinity_list:0-7\n/proc/irq/{at}/{kind}_affinity_list:{core}\n"
        for at, core in enumerate(cores, 40)
    )
    return {
        **WIRED,
        "/sys/class/net/eth0/speed": "100000",
        "/sys/class/net/eth0/device/local_cpulist": "0-3\n",
        "/sys/devices/system/node/online": "0-1",
        " ".join(AFFINITIES): f"/proc/irq/9/smp_affinity_list:0\n{lists}hostile\n",
        " ".join(vectors_of("eth0")): "".join(f"{at}\n" for at in range(40, 40 + len(cores))),
        "systemctl is-active irqbalance.service": f"{service}\n",
    }


@pytest.mark.parametrize(
    ("name", "texts", "expected", "seen"),
    [
        ("irq-spread", of_interrupts(*"0123"), "pass", "25 %"),
        ("irq-spread", of_interrupts(*"00001"), "fail", "on core 0 (40, 41, 42, 43)"),
        ("irq-spread", of_interrupts(*"00000000"), "fail", "and 4 more); irqbalance runs"),
        ("irq-spread", of_interrupts(*"00000", service="inactive"), "fail", "does not run"),
        ("irq-spread", of_interrupts(*["0-7"] * 8, kind="smp"), "pass", "0 %"),
        ("irq-spread", of_interrupts("0", "0"), "not-applicable", ""),
        ("irq-near", of_interrupts(*"0123"), "pass", "0 %"),
        ("irq-near", of_interrupts(*"0147"), "pass", "50 %"),
        ("irq-near", of_interrupts(*"04567"), "fail", "80 % of 5 interrupts (41, 42, 43, 44)"),
        ("irq-near", of_interrupts(*["0-7"] * 8, kind="smp"), "pass", "0 %"),
        ("irq-near", WIRED, "unknown", ""),
    ],
)
def test_interrupts_are_held_against_the_cores_near_the_interface(
    name: str, texts: dict[str, str], expected: str, seen: str
) -> None:
    commands = (AFFINITIES, vectors_of("eth0"), ("systemctl", "is-active", "irqbalance.service"))
    argv_of = {" ".join(argv): argv for argv in commands}
    frames = [
        FactFrame(rank=0, kind="command", status="ok", argv=list(argv_of[place]), text=text)
        if place in argv_of
        else FactFrame(rank=0, kind="file", status="ok", path=place, text=text)
        for place, text in texts.items()
    ]
    whole = folded(frames, ["eth0"])
    assert len(whole) == len(frames) + 1 - len({*argv_of} & {*texts} - {" ".join(commands[2])})
    (found,) = judge_machine(
        machine_of(HostFacts.of("n1", whole)), catalogue(), "throughput", [name]
    )
    assert found.status == expected
    assert seen in found.seen
