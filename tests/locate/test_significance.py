"""Tails, Holm and the detectable slowdown: against known values, and against simulation."""

import numpy as np
import pytest

from wireproof.locate.significance import (
    LocateCriteria,
    as_log,
    as_normal,
    as_slowdown,
    at_least_half,
    detectable,
    holm,
    median_error,
    quantile,
    upper_tail,
)


def test_quantiles_and_tails_agree_with_the_table_of_the_design() -> None:
    """z for a family-wise error of 5 % over N nodes, as validation has them."""
    for nodes, z in ((16, 2.73), (128, 3.36), (1024, 3.90), (10_000, 4.42)):
        assert quantile(0.05 / nodes) == pytest.approx(z, abs=0.01)
        assert upper_tail(np.asarray([quantile(0.05 / nodes)]))[0] == pytest.approx(
            0.05 / nodes, rel=1e-6
        )


def test_tails_far_out_are_numbers() -> None:
    assert upper_tail(np.asarray([np.inf, 60.0, -60.0, -np.inf])).tolist() == pytest.approx(
        [0.0, 0.0, 1.0, 1.0]
    )


@pytest.mark.parametrize(
    ("t", "freedom", "p"), [(2.228, 10, 0.025), (4.144, 10, 0.001), (1.96, 1e6, 0.025)]
)
def test_students_t_as_a_normal_deviate(t: float, freedom: float, p: float) -> None:
    z = as_normal(np.asarray([t, -t]), freedom)
    assert upper_tail(z)[0] == pytest.approx(p, rel=0.06)
    assert z[1] == pytest.approx(-z[0])


def test_holm_adjusts_by_what_is_left_and_never_falls() -> None:
    adjusted = holm(np.asarray([0.04, 0.001, 0.03]))
    assert adjusted.tolist() == pytest.approx([0.06, 0.003, 0.06])
    assert holm(np.asarray([0.001]), hypotheses=100).tolist() == pytest.approx([0.1])
    assert holm(np.zeros(0)).size == 0


def test_slowness_and_slowdown_are_inverse() -> None:
    assert as_log("goodput", 0.2) == pytest.approx(-np.log(0.8))
    assert as_log("hrt", 0.2) == pytest.approx(np.log(1.2))
    for metric in ("goodput", "hrt"):
        for slowdown in (0.0, 0.05, 0.5, 0.99):
            assert as_slowdown(metric, as_log(metric, slowdown)) == pytest.approx(slowdown)
    assert as_log("goodput", 1.0) < 30.0


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, float("nan"), float("inf")])
def test_criteria_refuse_shares_that_are_none(bad: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        LocateCriteria(alpha=bad)


def test_the_detectable_slowness_is_found_with_95_percent_power() -> None:
    """A median of k normal samples with that slowness passes the threshold in about 95 of 100
    trials.
    """
    rng = np.random.default_rng(11)
    sigma, count, spread, hypotheses = 0.02, 12, 0.005, 3072
    error = float(median_error(sigma, count, spread))
    least = detectable(error, 0.05 / hypotheses, practical=0.0)
    medians = np.median(least + rng.normal(0, sigma, (20_000, count)), axis=1) + rng.normal(
        0, spread, 20_000
    )
    power = float(np.mean(medians / error > quantile(0.05 / hypotheses)))
    assert 0.93 < power < 0.975


def test_nothing_below_the_practical_threshold_counts_as_detectable() -> None:
    assert detectable(0.001, 0.005, practical=0.05) == pytest.approx(0.05 - 1.355 * 0.001, abs=1e-5)


def test_half_of_a_ports_samples_in_the_tail() -> None:
    assert at_least_half(7, 0.03) == pytest.approx(35 * 0.03**4, rel=0.15)
    assert at_least_half(2, 0.03) == pytest.approx(0.0009)
    assert at_least_half(1, 0.03) == pytest.approx(0.03)
    assert at_least_half(0, 0.03) == 1.0
    assert at_least_half(12, 0.5) == 1.0
    assert 0.0 < at_least_half(200, 0.05) < 1e-30
