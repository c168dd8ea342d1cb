"""What is tried and which number is compared, from text."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof.model.errors import BadInput
from wireproof.options.knobs import is_of_a_fabric, knob_of, metric_reader

SETTINGS = ("tcp-slow-start-after-idle", "numa-balancing")


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("UCX_RNDV_THRESH=1k,8k", "variable", ("1k", "8k")),
        ("UCX_RNDV_THRESH=,8k", "variable", (None, "8k")),
        ("UCX_TLS=tcp,self|all", "variable", ("tcp,self", "all")),
        ("SET_ALREADY=2", "variable", ("1", "2")),
        ("NOT_SET=2", "variable", (None, "2")),
        ("OPTS=-x a=b,", "variable", ("-x a=b", None)),
        ("numa-balancing", "setting", (None,)),
        ("numa-balancing=0", "setting", (None, "0")),
        ("numa-balancing=0,1,2", "setting", ("0", "1", "2")),
    ],
)
def test_knobs(text: str, kind: str, values: tuple[str | None, ...]) -> None:
    found = knob_of(text, SETTINGS, {"SET_ALREADY": "1"})
    assert (found.kind, found.values) == (kind, values)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("numa-balancin=0,1", "did you mean numa-balancing?"),
        ("UCX_RNDV_THRESH", "neither a setting"),
        ("1X=a,b", "neither a setting"),
        ("=a,b", "neither a setting"),
        ("X=1,1", "given twice"),
        ("SET_ALREADY=1", "already set"),
        ("X=", "given twice"),
        ("X=1,2,3,4,5,6,7,8,9", "at most 8 values"),
        ("X=a\nb,c", "printable"),
        ("X=" + "a" * 2000, "1024"),
        ("numa-balancing=0,,1", "empty"),
    ],
)
def test_what_is_no_knob_is_said(text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        knob_of(text, SETTINGS, {"SET_ALREADY": "1"})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_variables_of_a_fabric() -> None:
    assert is_of_a_fabric("PSM3_RNDV_NIC_THRESH")
    assert not is_of_a_fabric("APP_MODE")


OUTPUT = "step 1 time: 9.5 s\nstep 2 time: 8.25 s\nrate 1e3\n"
DOCUMENT = json.dumps({"end": {"sums": [{"bps": 1.5}, {"bps": 2}], "text": "7", "no": True}})


@pytest.mark.parametrize(
    ("metric", "output", "value"),
    [
        (r"time: ([0-9.]+)", OUTPUT, 8.25),
        (r"(?<=rate )\S+", OUTPUT, 1000.0),
        (r"^rate (.*)$", OUTPUT, 1000.0),
        (r"nowhere (\d+)", OUTPUT, None),
        (r"(step)", OUTPUT, None),
        ("json:end.sums[1].bps", DOCUMENT, 2.0),
        ("json:end.text", DOCUMENT, 7.0),
        ("json:end.no", DOCUMENT, None),
        ("json:end.sums[7].bps", DOCUMENT, None),
        ("json:end.sums.bps", DOCUMENT, None),
        ("json:end", "no document", None),
    ],
)
def test_numbers_of_an_output(metric: str, output: str, value: float | None) -> None:
    assert metric_reader(metric)(output) == value


@pytest.mark.parametrize("metric", ["(", "(a)(b)", "json:", "json:..."])
def test_a_metric_that_names_no_number_is_refused(metric: str) -> None:
    with pytest.raises(BadInput, match="--metric"):
        metric_reader(metric)


@given(st.text(max_size=200))
def test_any_text_is_a_knob_or_a_sentence(text: str) -> None:
    with contextlib.suppress(BadInput):
        found = knob_of(text, SETTINGS, {})
        assert len(found.values) >= 2 or found.kind == "setting"
