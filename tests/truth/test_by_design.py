"""A trunk that is shared by design: one answer of `locate` and of the verdict, and what is expected
there.
"""

import pytest
from tests.synthetic import lab, run_of

from wireproof.locate.confirm import conclude
from wireproof.locate.samples import samples_of
from wireproof.locate.screen import screen
from wireproof.locate.verdict import with_located
from wireproof.model.finding import Judgement
from wireproof.model.located import Attachment, Cable, Fabric, Located
from wireproof.verdict.run import judge

FABRIC = Fabric(
    attachments=tuple(
        Attachment(node=f"n{i}", switch="leaf1" if i < 4 else "leaf2") for i in range(1, 7)
    ),
    levels={"leaf1": 1, "leaf2": 1, "top": 2},
    cables=(Cable(one="leaf1", other="top"), Cable(one="leaf2", other="top")),
)


def uneven(a: int, b: int) -> float:
    """Three flows share the trunk, not evenly: the shares of a flow there and back differ by up to
    a factor of 1.7.
    """
    return 1.0 if (a < 3) == (b < 3) else (0.26, 0.34, 0.44)[(2 * a + b) % 3]


def checked(speed: object, seed: int) -> tuple[Judgement, Located]:
    run = run_of(lab(nodes=6, sizes=(8, 1 << 20), speed=speed, seed=seed))
    samples = samples_of(run)
    assert samples is not None
    located = conclude(screen(samples, FABRIC), None)
    return with_located(judge(run), [located], fabric=FABRIC), located


@pytest.mark.parametrize("seed", range(4))
def test_an_oversubscribed_trunk_is_by_design_for_the_verdict_too(seed: int) -> None:
    """`locate` named nobody, and the verdict failed three pairs as direction-slow."""
    judgement, located = checked(uneven, seed)
    streams = [pair for pair in judgement.pairs if pair.pattern == "stream"]
    assert {pair.verdict for pair in streams} == {"pass"}
    assert located.blames == []
    codes = {(one.code, one.severity) for one in judgement.findings}
    assert not {code for code, severity in codes if severity == "fail"} - {"below-expectation"}
    assert not any(
        one.code in ("direction-slow", "node-direction-slow") for one in judgement.findings
    )
    tier = next(one for one in judgement.findings if one.code == "tier-oversubscribed")
    assert "is expected there" in tier.message


@pytest.mark.parametrize("seed", range(4))
def test_a_slow_port_is_a_fault_beside_a_trunk_that_is_shared_by_design(seed: int) -> None:
    judgement, _ = checked(lambda a, b: min(0.3 if a == 1 else 1.0, uneven(a, b)), seed)
    assert judgement.verdict == "fail"
    assert any(
        "n2" in one.subject
        for one in judgement.findings
        if one.severity in ("fail", "inconclusive")
    )
