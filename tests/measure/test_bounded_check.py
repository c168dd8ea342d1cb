"""A check that has to end in time, and one whose second stage cannot start."""

import dataclasses
import time

import pytest

from wireproof.cli.console import Console
from wireproof.measure.session import Session
from wireproof.measure.session import again as screening
from wireproof.measure.session.run import left_s
from wireproof.model.errors import CouldNotMeasure
from wireproof.model.plan import Point
from wireproof.target import Target

WISH = Session(title="a check", points=(), seed=1)
PLACE = Target(hosts=("a", "b", "c"), start_on=("a", "b", "c"))


def test_all_launches_together_end_in_time() -> None:
    assert left_s(WISH) is None
    assert left_s(dataclasses.replace(WISH, deadline_s=9.0)) == 9.0
    late = dataclasses.replace(WISH, deadline_s=9.0, until=time.monotonic() + 1000)
    assert left_s(late) == 9.0
    left = left_s(dataclasses.replace(WISH, deadline_s=900.0, until=time.monotonic() + 100))
    assert left <= 100
    with pytest.raises(CouldNotMeasure, match="no time"):
        left_s(dataclasses.replace(WISH, until=time.monotonic() + 1))


def test_a_confirm_stage_that_cannot_start_leaves_what_the_screen_has_seen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    point = Point(id=0, pattern="stream", message_bytes=65536, pairs=((0, 1),), form="stream")

    def refuse(*_: object, **__: object) -> None:
        raise CouldNotMeasure("b is down.")

    monkeypatch.setattr(screening, "confirm_points", lambda *_, **__: ([point], []))
    monkeypatch.setattr(screening, "campaign_run", refuse)
    assert screening._confirm(WISH, PLACE, None, [], {}, Console()) is None
    assert "could not be measured again: b is down." in capsys.readouterr().err
