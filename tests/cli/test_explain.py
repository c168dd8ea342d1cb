"""``wireproof explain CODE``: findings, causes, rules of lint and settings by one command."""

import subprocess
import sys

import pytest
from tests.cli.verb import document, wireproof
from tests.conftest import its_share

from wireproof.audit.job import settings_by_id
from wireproof.lint.rules import rules
from wireproof.model.errors import BadInput
from wireproof.verdict.catalogue import CATALOGUE
from wireproof.workflow.explain import causes, explain


def test_no_fix_shows_an_expression_of_the_catalogue(slow_turn: int | None) -> None:
    for name in its_share(list(settings_by_id()), slow_turn):
        texts = [str(one.paragraphs) for one in explain(name)]
        assert not [text for text in texts if '=setting("' in text or "=smallest(" in text]


def test_a_finding_shares_its_code_with_nothing_else() -> None:
    """``explain`` looks no further for the code of a finding, and loads nothing else for it."""
    assert not set(CATALOGUE) & {*causes(), *rules(), *settings_by_id()}
    assert explain("above_ceiling")[0].title.startswith("above-ceiling:")
    assert explain("Striped")[0].title.startswith("striped:")
    for wrong in ("of-wire", "zzzzzz"):
        with pytest.raises(BadInput, match=r"did you mean|lint --rules"):
            explain(wrong)


@pytest.mark.parametrize("name", ["foo", "qwerty", "x"])
def test_no_distant_name_is_suggested(name: str) -> None:
    with pytest.raises(BadInput, match=r"lint --rules"):
        explain(name)


def test_a_finding_is_explained_by_a_small_part_of_the_program() -> None:
    script = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*[m for m in sys.modules if m.startswith('wireproof')]))\n"
        "from wireproof.cli import main\n"
        "sys.exit(main(['explain', 'off-wire']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert len(done.stdout.split(b"\n")[-2].split()) <= 40


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("off-wire", ("Do next",)),
        ("hdr", ("hdr200 can carry 24.82 GB/s of payload",)),
        ("2xedr", ("2 x edr can carry 24.82 GB/s of payload",)),
        ("opa", ("Cornelis",)),
        ("mtu-small", ("Setting", "mtu: MTU of the interface (wireproof explain mtu)")),
        ("irqbalance-hintpolicy", ("Setting", "wireproof explain irqbalance")),
        ("mtu", ("Fix", "Undo", "Rules of lint", "command-mtu", "Causes", "mtu-small")),
        ("krcvqs", ("hfi1-krcvqs:",)),
        ("krcvqs=4", ("hfi1-krcvqs:",)),
        ("Snoop hold-off timer = 9", ("bios-snoop-holdoff:",)),
        ("blacklist acpi_pad", ("acpi-pad:",)),
        ("nictypes.ib0=InfiniBand", ("nictypes: provisioning",)),
        ("tx_priority_0_xoff.nic: 244655362", ("pauses of one priority",)),
        ("rx_priority_3_xoff.nic", ("pauses of one priority",)),
        ("MPI start-up time", ("osu_init",)),
        ("PSM3_RDMA=7", ("env-psm3-rdma:", "value-invalid:", "PSM3_RDMA=7")),
        ("PSM3_RDMA=0 (default)", ("env-psm3-rdma:",)),
        ("PSM3_RDMA", ("env-psm3-rdma:", "wireproof study psm3 --knobs PSM3_RDMA")),
        ("intel_pstate", ("turbo:",)),
        ("c1e autopromote", ("bios-c1e:",)),
        ("vm.swappiness", ("swappiness:",)),
        ("PSM3_PRINT_STATS", ("env-psm3-print-stats:", "wireproof judge")),
        ("I_MPI_HYDRA_PMI_CONNECT", ("MPI_Init", "2021 silently ignores it")),
        ("MXM_TLS", ("component-removed:", "UCX_TLS, with --mca pml ucx")),
        ("I_MPI_TMI_DRECV", ("variable-removed:", "FI_PROVIDER=psm2")),
        ("I_MPI_PROCESSOR_LIST", ("did you mean I_MPI_PIN_PROCESSOR_LIST",)),
        ("TCP_RMEM", ("tcp-rmem: TCP receive buffer", "Should be", "Expected effect")),
    ],
)
def test_each_kind_of_code_is_explained_and_points_at_the_others(
    code: str, said: tuple[str, ...]
) -> None:
    done = wireproof("explain", code)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert not [words for words in said if words not in text]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("PSM3_MTU", ("PSM3_MTU: knob", "wireproof study psm3 --knobs PSM3_MTU")),
        ("dirty_ratio", ("dirty_ratio:", "Out of scope")),
        ("cpu_dma_latency", ("/dev/cpu_dma_latency", "idle-states")),
        ("FI_PSM3_UUID", ("FI_PSM3_UUID:", "Leave it to MPI")),
        ("PSM2_MEMORY", ("min, normal (default) or large",)),
        ("OMPI_MCA_mtl", ("OMPI_MCA_mtl:", "--mca pml cm --mca mtl psm2")),
        ("qcu", ("Current Configuration: 1x40", "qcu-four-ports")),
        ("hfi1", ("hfi1-krcvqs", "hfi1-num-sdma")),
        ("hintpolicy", ("irqbalance-hintpolicy:",)),
        ("psm2", ("PSM2", "FI_PROVIDER=psm2")),
        ("shm:tmi", ("FI_PROVIDER=psm2", "fabric-removed")),
        ("1x40", ("four of 10 Gb/s",)),
        ("24f0", ("driver is hfi1", "wireproof explain opa100")),
        ("Randomly Ordered Ring Latency", ("wireproof run hpcc", "Source")),
        ("ib_write_bw", ("-R connects by rdma_cm",)),
        ("PFC", ("PFC:", "pfc-enabled:")),
        ("perftest", ("See also", "perftest-mtu")),
        ("LinkSpeed", ("LinkSpeed: fields of opainfo", "opa-link-speed:")),
        ("/sys/class/net/ib0/mode", ("ipoib-mode:",)),
        ("hyperthreading", ("bios-smt:",)),
        ("VT-d", ("iommu-mode",)),
        ("jumbo frames", ("wireproof explain mtu",)),
        ("xhpl", ("wireproof prove",)),
        ("Enhanced Intel SpeedStep", ("bios-speedstep:",)),
        ("user_credit_return_theshold", ("modprobe-unknown-parameter",)),
    ],
)
def test_names_of_documents_are_explained(name: str, words: tuple[str, ...]) -> None:
    done = wireproof("explain", name)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert not [one for one in words if one not in text]


def test_a_rule_and_a_setting_of_one_name_are_both_explained() -> None:
    found = document(wireproof("explain", "tuned-profile", "--json"))
    assert [one["code"] for one in found["rules"]] == ["tuned-profile"]
    assert [one["id"] for one in found["settings"]] == ["tuned-profile"]
    assert found["findings"] == []
