"""What a user may write for a link and a path, and what is refused with one sentence."""

import pytest
from tests.physics.tables import TABLES

from wireproof.model.errors import BadInput
from wireproof.physics import FAMILIES, PATHS, claim_from_text, default_table, limits, link_names
from wireproof.physics.limits import floor_constant, typical_constant


@pytest.mark.parametrize(("text", "path", "kind", "protocol", "gbps"), TABLES["claims"])
def test_what_users_write(text: str, path: str, kind: str, protocol: str, gbps: float) -> None:
    link = claim_from_text(text, path=path)
    assert (link.kind, link.protocol) == (kind, protocol)
    rate = None if link.rate_bits_per_s is None else link.rate_bits_per_s / 1e9
    assert rate == (pytest.approx(gbps) if gbps else None)


@pytest.mark.parametrize(
    ("text", "options", "seen"), [*TABLES["no_claims"], ("x" * 100_000, {}, "unknown link")]
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
