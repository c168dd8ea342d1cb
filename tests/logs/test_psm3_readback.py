"""What was set and what was taken: no value is guessed."""

from pathlib import Path

from wireproof.logs.psm3.identify import SETTINGS, readback
from wireproof.model.psm3 import NOT_SAID

GOLDEN = Path(__file__).parents[1] / "golden" / "psm3"


def texts(folder: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((GOLDEN / folder).iterdir())]


def printed(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def values(setting: str, said: str, statistics: list[str] | None = None) -> list[tuple[str, str]]:
    found = readback(said, statistics or [])
    return sorted((one.value, one.kind) for one in found if one.setting == setting)


def test_silence_is_not_said() -> None:
    found = readback("", [])
    assert [one.setting for one in found] == list(SETTINGS)
    assert {(one.value, one.kind, one.line) for one in found} == {(NOT_SAID, "not said", "")}


def test_each_value_names_the_line_that_says_it() -> None:
    said = printed("invalid-values.txt")
    lines = said.split("\n")
    for one in readback(said, []):
        if one.kind != "not said" and "UUID" not in one.setting:
            assert lines[one.number - 1].strip() == one.line


def test_what_was_parsed_outranks_the_variables_text() -> None:
    """abc is a hexadecimal number to PSM3; its statistics file repeats the text."""
    said = printed("invalid-values.txt")
    echo = "PSM3_MTU=abc\nTime Delta 0 seconds Sun\n"
    assert values("PSM3_MTU", said, [echo]) == [("2748", "taken")]
    assert values("PSM3_MTU", "", [echo]) == [("abc", "given")]


def test_an_invalid_value_reads_back_as_the_one_in_force() -> None:
    assert values("PSM3_FLOW_CREDITS", printed("invalid-values.txt")) == [("32:128:16", "taken")]
    assert values("PSM3_MQ_RNDV_NIC_THRESH", printed("invalid-values.txt")) == [
        ("4294967295", "taken")
    ]


def test_tcp_where_udp_was_asked_for_is_seen() -> None:
    """This build has no UDP: PSM3_SOCKETS=1 is not even looked at."""
    assert values("PSM3_SOCKETS", "", texts("two-hosts")) == [("0", "observed")]
    assert values("PSM3_SOCKETS", "", texts("udp")) == [("1", "observed")]
    assert values("PSM3_SOCKETS", printed("verbose-2.txt")) == [("0", "observed")]


def test_rails_are_those_that_were_opened() -> None:
    assert values("PSM3_NIC", "", texts("two-rails")) == [("eth0,hsn0", "observed")]
    assert values("PSM3_MULTIRAIL_MAP", printed("rail-map.txt")) == [("eth0,hsn0", "observed")]
    assert values("rails", printed("rail-map.txt")) == [("2", "observed")]
    assert values("rails", "", texts("two-hosts")) == [("1", "observed")]


def test_a_nic_that_was_not_found_is_only_given() -> None:
    assert values("PSM3_NIC", "", texts("nothing")) == [("fab0", "given")]


def test_no_rdma_mode_over_the_kernels_sockets() -> None:
    assert values("PSM3_RDMA", "", texts("rendezvous")) == [("0", "observed")]


def test_a_mode_that_is_not_compiled_in_falls_back() -> None:
    said = (
        "n1:rank0 PSM3_IDENTIFY HAL: verbs (RDMA Verbs)\n"
        "n1:rank0: env  PSM3_RDMA                 => 1 (default was 0)\n"
        "n1.9 WARNING: PSM built without rv module enabled, RDMA mode 1 unavailable\n"
    )
    assert ("0", "observed") in values("PSM3_RDMA", said)
    without = "\n".join(said.split("\n")[:2])
    assert values("PSM3_RDMA", without) == [("1", "taken")]


def test_ranks_that_differ_are_all_there() -> None:
    said = "".join(
        f"n{host}:rank{host} PSM3_IDENTIFY NIC 0 (hsn{host}) Port 1 100 Mbps NUMA -1 IP=10.0.0.1\n"
        for host in (1, 2)
    )
    assert values("PSM3_NIC", said) == [("hsn1", "observed"), ("hsn2", "observed")]


def test_lines_of_other_programs_are_no_settings() -> None:
    said = "PASSWORD=x\nexport FOO=1\nn1: environment PSM3\nSECRET=PSM3_MTU=1\n"
    assert all(one.kind == "not said" for one in readback(said, []))


def test_real_modes_over_verbs() -> None:
    """Soft-RoCE with Intel MPI's build: user RC is there, the rv module is not."""
    assert values("PSM3_RDMA", "", texts("verbs-rdma0")) == [("0", "observed")]
    assert values("PSM3_RDMA", "", texts("verbs-rdma1")) == [("0", "observed")]
    assert values("PSM3_RDMA", "", texts("verbs-rdma2")) == [("2", "given")]
    assert values("PSM3_RDMA", printed("verbs-fallback.txt")) == [("0", "observed")]
    assert values("PSM3_HAL", "", texts("verbs-rdma2")) == [("verbs", "observed")]
    assert values("PSM3_NIC", "", texts("verbs-rdma3")) == [("rxe0", "observed")]
