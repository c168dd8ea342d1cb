"""A setting under trial: which plans it has, and that every value is taken away again. The node
program is played.
"""

from collections.abc import Mapping

import pytest

from wireproof.experiment import applied as under_test
from wireproof.experiment.applied import OnHosts, planned, refuse_open_sets
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import TriedKnob
from wireproof.model.tuning import (
    ByHand,
    Change,
    ChangeAnswer,
    ChangeState,
    HostPlan,
    HostTuned,
    PlannedChange,
    SetAnswer,
    SetState,
    Tuned,
    TunePlan,
)
from wireproof.report.reporter import LoggingReporter
from wireproof.target import Target

HOSTS = Target(hosts=("n1", "n2"), start_on=("n1", "n2"))
PRESENT, RECOMMENDED = "1", "0"


@pytest.fixture(autouse=True)
def without_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether this machine has Slurm does not matter here."""
    monkeypatch.setattr(under_test, "may_be_touched", lambda plan, _target, _environment: plan)


def plan_for(text: str) -> TunePlan:
    """A sysctl of two hosts that has the value 1."""
    value = text.partition("=")[2] or RECOMMENDED
    change = PlannedChange(
        change=Change(id="idle", value=value, path="/proc/sys/idle"),
        was=PRESENT,
        why="why",
        undo="undo",
    )
    changes = [change] if value != PRESENT else []
    return TunePlan(hosts=[HostPlan(host=host, changes=changes) for host in ("n1", "n2")])


def knob(*values: str | None) -> TriedKnob:
    return TriedKnob(name="idle", kind="setting", values=values)


def changes_of(plans: list[TunePlan]) -> list[list[str]]:
    return [
        [one.change.value for one in plan.hosts[0].changes] if plan.hosts else [] for plan in plans
    ]


@pytest.mark.parametrize(
    ("values", "named", "changes"),
    [
        ((None,), (None, "0"), [[], ["0"]]),
        ((None, "5"), (None, "5"), [[], ["5"]]),
        (("0", "1", "2"), ("0", "1", "2"), [["0"], [], ["2"]]),
    ],
)
def test_each_value_is_planned_from_what_stands_there(
    values: tuple[str | None, ...], named: tuple[str | None, ...], changes: list[list[str]]
) -> None:
    found, plans = planned(knob(*values), plan_for, HOSTS, {})
    assert found.values == named
    assert changes_of(plans) == changes


def test_values_that_do_not_differ_are_refused() -> None:
    with pytest.raises(BadInput, match="do not differ"):
        planned(knob(None, PRESENT), plan_for, HOSTS, {})


def test_what_cannot_be_changed_at_once_is_refused_with_its_how() -> None:
    by_hand = ByHand(id="idle", how="reboot with idle=0", why="why")

    def plan(_text: str) -> TunePlan:
        return TunePlan(hosts=[HostPlan(host="n1", by_hand=[by_hand])])

    for values in ((None,), (None, "0")):
        with pytest.raises(BadInput, match="reboot with idle=0"):
            planned(knob(*values), plan, HOSTS, {})


@pytest.mark.parametrize("state", ["applying", "armed", "confirmed", "reverted"])
def test_a_set_that_a_killed_trial_left_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch, state: SetState
) -> None:
    """Its value was taken for the old value: "the values do not differ from the current values"."""
    left = [HostTuned(host=host, sets=[SetAnswer(id="x1", state=state)]) for host in HOSTS.hosts]
    monkeypatch.setattr(under_test, "ask_nodes", lambda *_: left)
    if state in ("confirmed", "reverted"):
        refuse_open_sets(HOSTS, None)
        return
    with pytest.raises(BadInput, match=r"n1 .* `wireproof tune revert x1`"):
        refuse_open_sets(HOSTS, None)


class Node:
    """The node program: the value that stands on all hosts, and what was done to it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.value, self.done, self.refuses = PRESENT, list[str](), ""
        self.early = self.back = False
        monkeypatch.setattr(under_test, "apply", self._apply)
        monkeypatch.setattr(under_test, "ask_nodes", self._revert)

    def _apply(self, plan: TunePlan, _target: Target, **_more: object) -> Tuned:
        self.done.append("apply")
        hosts = [one.host for one in plan.hosts]
        if self.refuses:
            answers = [HostTuned(host=host, problem=self.refuses, status=1) for host in hosts]
            return Tuned(action="apply", hosts=answers)
        self.value = plan.hosts[0].changes[0].change.value
        armed = [HostTuned(host=host, sets=[SetAnswer(id="x", state="armed")]) for host in hosts]
        return Tuned(action="apply", hosts=armed)

    def _revert(
        self, _target: Target, what: str, hosts: tuple[str, ...], _name: str, _place: object
    ) -> list[HostTuned]:
        assert what == "revert"
        self.done.append("revert")
        self.value = PRESENT
        state: ChangeState = "already" if self.back else "reverted"
        changes = [] if self.early else [ChangeAnswer(id="idle", state=state)]
        return [HostTuned(host=host, changes=changes) for host in hosts]


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Node:
    return Node(monkeypatch)


def turned(values: Mapping[int, str]) -> OnHosts:
    plans = [plan_for(f"idle={value}") for value in values.values()]
    return OnHosts(plans, HOSTS, timeout_s=60, place=None, reporter=LoggingReporter())


def test_values_follow_each_other_and_the_old_one_is_back(node: Node) -> None:
    seen = []
    with turned({0: "1", 1: "0", 2: "2"}) as setting:
        for value in (0, 1, 1, 2, 0, 2):
            assert setting.put(value) == {}
            seen.append(node.value)
    assert seen == ["1", "0", "0", "2", "1", "2"]
    assert node.value == PRESENT
    assert node.done == ["apply", "revert", "apply", "revert", "apply", "revert"]


def test_an_interruption_leaves_the_old_value(node: Node) -> None:
    def interrupted() -> None:
        with turned({0: "1", 1: "0"}) as setting:
            setting.put(1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert node.value == PRESENT


def test_a_value_that_is_kept_stays_and_says_how_it_lasts(node: Node) -> None:
    with turned({0: "1", 1: "0"}) as setting:
        setting.put(1)
        assert "tune confirm" in setting.keep(1)
    assert node.value == "0"


def test_a_base_that_is_kept_is_what_stood_there(node: Node) -> None:
    with turned({0: "1", 1: "0"}) as setting:
        setting.put(1)
        assert "nothing is changed" in setting.keep(0)
    assert node.value == PRESENT


def test_a_host_that_refuses_ends_the_trial(node: Node) -> None:
    node.refuses = "another set is open"
    with pytest.raises(CouldNotMeasure, match="n1: another set is open"):
        turned({0: "1", 1: "0"}).put(1)
    assert node.done == ["apply"]


def test_a_timer_that_came_too_early_spoils_the_runs(node: Node) -> None:
    setting = turned({0: "1", 1: "0"})
    setting.put(1)
    node.early = True
    with pytest.raises(CouldNotMeasure, match="before its runs had ended"):
        setting.put(0)


def test_a_command_that_sets_the_old_value_spoils_its_runs(node: Node) -> None:
    setting = turned({0: "1", 1: "0"})
    setting.put(1)
    node.back = True
    with pytest.raises(CouldNotMeasure, match="by the command"):
        setting.put(0)
