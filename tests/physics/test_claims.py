"""What a user may write for a link and a path, and what is refused with one sentence."""

import pytest

from wireproof.model.errors import BadInput
from wireproof.physics import FAMILIES, PATHS, claim_from_text, default_table, limits, link_names
from wireproof.physics.limits import floor_constant, typical_constant


@pytest.mark.parametrize(
    ("text", "path", "kind", "protocol", "gbps"),
    [
        ("ethernet:25", "", "25gbe", "tcp", 25),
        ("Ethernet:100Gb/s", "rdma", "roce100", "rocev2", 100),
        ("100gbe", "verbs", "roce100", "rocev2", 100),
        ("ethernet:100", "psm3", "psm3100", "psm3", 100),
        ("ethernet:12.5", "", "12.5gbe", "tcp", 12.5),
        ("10gbe:10", "", "10gbe", "tcp", 10),
        ("roce:200", "tcp", "200gbe", "tcp", 200),
        ("infiniband:200", "", "hdr200", "infiniband", 200),
        ("ib:100", "", "edr", "infiniband", 100),
        ("hdr", "ucx", "hdr200", "infiniband", 200),
        ("edr", "tcp", "ipoib-edr", "tcp", 100),
        ("fdr:56", "", "fdr", "infiniband", 56.25 * 64 / 66),
        ("qdr:40", "", "qdr", "infiniband", 32),
        ("opa100", "psm2", "opa100", "omnipath", 100),
        ("opa100", "tcp", "ipofabric-opa100", "tcp", 100),
        ("truescale:40", "", "truescale", "truescale", 32),
        ("efa:100", "", "efa100", "efa", 100),
        ("ethernet:100", "efa", "efa100", "efa", 100),
        ("slingshot:200", "cxi", "slingshot200", "slingshot", 200),
        ("slingshot10", "", "slingshot100", "slingshot", 100),
        ("slingshot11", "", "slingshot200", "slingshot", 200),
        ("iwarp:10", "", "iwarp10", "iwarp", 10),
        ("40gbe", "iwarp", "iwarp40", "iwarp", 40),
        ("iwarp10", "tcp", "10gbe", "tcp", 10),
        ("25gbe", "onload", "25gbe", "tcp", 25),
        ("edr", "vma", "ipoib-edr", "tcp", 100),
        ("slingshot:200", "tcp", "200gbe", "tcp", 200),
        ("edr", "shm", "shm", "shm", None),
        ("ethernet", "", "ethernet", "tcp", None),
        ("infiniband", "", "infiniband", "infiniband", None),
        ("ipoib", "", "ipoib", "tcp", None),
    ],
)
def test_what_users_write(
    text: str, path: str, kind: str, protocol: str, gbps: float | None
) -> None:
    link = claim_from_text(text, path=path)
    assert (link.kind, link.protocol) == (kind, protocol)
    rate = None if link.rate_bits_per_s is None else link.rate_bits_per_s / 1e9
    assert rate == (None if gbps is None else pytest.approx(gbps))


@pytest.mark.parametrize(
    ("text", "options", "seen"),
    [
        ("10gbe:100", {}, "is a link of 10 Gb"),
        ("edr:400", {}, "infiniband:400"),
        ("truescale:100", {}, "40 Gb/s"),
        ("infiniband:123", {}, "123"),
        ("shm:10", {}, "no rate"),
        ("ethernet:", {}, "not a rate"),
        ("ethernet:-1", {}, "not a rate"),
        ("ethernet:1e99", {}, "not a rate"),
        ("ethernet:0", {}, "not a rate"),
        ("ethernt:10", {}, "did you mean ethernet"),
        ("edrr", {}, "did you mean edr"),
        ("", {}, "unknown link"),
        ("x" * 100_000, {}, "unknown link"),
        ("10gbe", {"path": "psm2"}, "does not run over"),
        ("edr", {"path": "psm2"}, "does not run over"),
        ("opa100", {"path": "psm3"}, "does not run over"),
        ("ipoib-edr", {"path": "rdma"}, "does not run over"),
        ("10gbe", {"path": "tpc"}, "did you mean tcp"),
        ("10gbe", {"mtu": 3}, "MTU 3"),
        ("edr", {"pcie": "gen9 x99"}, "PCIe slot"),
    ],
)
def test_a_claim_that_cannot_be_is_refused_with_one_sentence(
    text: str, options: dict[str, object], seen: str
) -> None:
    with pytest.raises(BadInput) as refused:
        claim_from_text(text, **options)  # type: ignore[arg-type]
    sentence = str(refused.value)
    assert seen in sentence
    assert "\n" not in sentence
    assert len(sentence) < 1500


def test_every_name_and_family_is_a_claim_with_a_floor_and_a_usual_start() -> None:
    for name in (*FAMILIES, *link_names()):
        link = claim_from_text(name)
        assert 0 < floor_constant(link).value < typical_constant(link).value


REST = ("aries", "shm")


def test_every_path_is_taken_by_some_link() -> None:
    for path in PATHS:
        taken = []
        for name in ("10gbe", "edr", "opa100", "truescale", "efa100", "slingshot200", *REST):
            try:
                taken.append(claim_from_text(name, path=path).kind)
            except BadInput:
                continue
        assert taken, path


def test_psm3_pays_its_own_header_and_ip_over_a_fabric_its_packets() -> None:
    def goodput(text: str, **options: object) -> float:
        found = limits(claim_from_text(text, **options), "stream", "stream", 1 << 20)  # type: ignore[arg-type]
        assert found.attainable_bytes_per_s is not None
        return found.attainable_bytes_per_s

    assert goodput("ethernet:100", path="psm3") == pytest.approx(12.5e9 * 4040 / 4186)
    assert goodput("ethernet:100", path="psm3") < goodput("roce100")
    # 65524 B in 16 packets of at most 4096 B and 30 B of header; 2048 B in one
    assert goodput("edr", path="tcp") == pytest.approx(12.5e9 * 65468 / (65524 + 16 * 30))
    assert goodput("edr", path="tcp", mtu=2044) == pytest.approx(12.5e9 * 1992 / (2048 + 30))
    assert goodput("edr", pcie="gen3 x8") < 7.5e9


def test_usual_values_are_marked_as_literature() -> None:
    assert all(
        row.literature
        for key, row in default_table().items()
        if key.startswith(("typical.", "floor."))
    )


def test_a_netdev_too_small_for_any_roce_packet_still_has_a_limit() -> None:
    found = limits(
        claim_from_text("roce100", mtu=300), "stream", "stream", 1 << 20
    ).attainable_bytes_per_s
    assert found == pytest.approx(12.5e9 * 256 / (256 + 82))
