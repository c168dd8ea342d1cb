"""Message rates against the packets of the link and the cores of its hosts."""

import pytest

from wireproof.logs.readers import read
from wireproof.logs.verdict import judge_log
from wireproof.model.series import SeriesVerdict
from wireproof.physics import claim_from_text


def mbw_mr(link: str, pairs: int, millions: float, sizes: tuple[int, ...] = (8,)) -> SeriesVerdict:
    rows = "".join(f"{n}  {n * millions:.2f}  {millions * 1e6:.2f}\n" for n in sizes)
    text = (
        "# OSU MPI Multiple Bandwidth / Message Rate Test v5.8\n"
        f"# [ pairs: {pairs} ] [ window size: 64 ]\n"
        f"# Size                  MB/s        Messages/s\n{rows}"
    )
    (found,) = judge_log(read(text.encode(), "x"), claim_from_text(link))
    return found


@pytest.mark.parametrize(
    ("link", "pairs", "millions", "verdict"),
    [
        ("opa100", 32, 160.0, "pass"),
        ("opa100", 32, 500.0, "fail"),
        ("opa100", 32, 1000.0, "fail"),
        ("opa100", 128, 500.0, "inconclusive"),  # 4 M/s a pair: two links might
        ("edr", 16, 150.0, "pass"),
        ("edr", 1, 5.0, "pass"),
        ("edr", 1, 900.0, "fail"),
        ("roce100", 32, 200.0, "inconclusive"),
        ("edr", 32, 3.0, "inconclusive"),  # 0.1 M/s a pair
        ("hdr200", 2, 2000.0, "fail"),
    ],
)
def test_a_rate(link: str, pairs: int, millions: float, verdict: str) -> None:
    found = mbw_mr(link, pairs, millions)
    assert found.verdict == verdict, found.reasons
    assert (found.proof == "off-wire") == (verdict == "fail")


def test_rates_that_differ_are_not_read_alike() -> None:
    found = [mbw_mr("opa100", 24, rate) for rate in (0.5, 160.0, 1000.0)]
    assert [one.verdict for one in found] == ["inconclusive", "pass", "fail"]
