"""The zoo played to the real engine: its trees are read below a root folder, its counters move
while it measures.
"""

import pytest
from tests.zoo.animals import ZOO, adapter
from tests.zoo.matrix import verdict_of
from tests.zoo.play import engine_run
from tests.zoo.scene import timeline
from tests.zoo.situations import SITUATIONS

from wireproof.verdict.run import judge

pytestmark = pytest.mark.engine
_BY_KEY = {situation.key: situation for situation in SITUATIONS}
# Other traffic of the model's world passes in real time, while a point's time is made up.
_PLAYED = ("fast", "tcp", "wrong-port", "memory", "hairpin", "half", "late", "wrapped", "pegged")
_FEW = (
    "mlx5-roce-pf",
    "mlx5-roce-guest",
    "mlx5-lag",
    "qib-32",
    "hfi1",
    "bnxt_re",
    "efa",
    "netvsc-mlx5",
    "bond-lacp",
)


def _wrong(key: str, situation: str, folder) -> str:
    scene = _BY_KEY[situation].scene(adapter(key))
    if scene is None:
        return ""
    expected = _BY_KEY[situation].expected(adapter(key))
    got, level, codes = verdict_of(judge(engine_run(timeline(scene), folder)))
    return (
        ""
        if got in expected.proofs
        else f"{situation}: {got} {level} {codes} instead of {expected.proofs}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("key", [one.key for one in ZOO])
def test_a_healthy_run_on_each_adapter(key, tmp_path):
    assert not _wrong(key, "fast" if adapter(key).fast else "tcp", tmp_path)


@pytest.mark.parametrize("situation", [one for one in _PLAYED if one not in ("fast", "late")])
@pytest.mark.parametrize("key", _FEW[:2])
def test_every_situation_on_two_adapters(key, situation, tmp_path):
    assert not _wrong(key, situation, tmp_path)


@pytest.mark.parametrize("key", _FEW[:2])
def test_late_counters_on_two_adapters(key, tmp_path):
    assert not _wrong(key, "late", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("situation", [one for one in _PLAYED if one != "fast"])
@pytest.mark.parametrize("key", _FEW[2:])
def test_every_situation_on_a_few_adapters(key, situation, tmp_path):
    assert not _wrong(key, situation, tmp_path)
