"""A setting of the hosts under trial: each value is a change set of the node program, which has the
old value in its journal and a timer that brings it back when the trial does not.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import msgspec

from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import TriedKnob
from wireproof.model.tuning import HostTuned, TunePlan
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.apply import apply, may_be_touched, new_id
from wireproof.workflow.tune.node import JournalPlace, ask_nodes
from wireproof.workflow.tune.trial.specification import Variables

KEPT_S = 600
"""A value that is kept reverts after this, unless it is confirmed."""

Planner = Callable[[str], TunePlan]
"""The plan for ``SETTING`` or ``SETTING=VALUE``."""


def planned(
    knob: TriedKnob, plan: Planner, target: Target, environment: Mapping[str, str]
) -> tuple[TriedKnob, list[TunePlan]]:
    """The plan of each value, from the values that stand now, and the knob with all values named. A
    value that stands already has an empty plan.

    Raises ``BadInput`` for what cannot be changed at once, or has one value only.
    """
    asked = [knob.name if value is None else f"{knob.name}={value}" for value in knob.values]
    bare = knob.values == (None,)
    plans = [plan(text) for text in asked] if bare else [_plan(plan, text) for text in asked]
    if bare:
        plans = [_nothing(plans[0]), plans[0]]
        knob = msgspec.structs.replace(knob, values=(None, _wanted(knob, plans[1])))
    for one in plans:
        _check(knob, may_be_touched(one, target, environment))
    if sum(not _changes(one) for one in plans) > 1:
        raise BadInput(f"{knob.name}: the values do not differ from the current ones.")
    return knob, plans


def _plan(plan: Planner, text: str) -> TunePlan:
    return plan(text) if "=" in text else TunePlan()


def _nothing(of: TunePlan) -> TunePlan:
    return msgspec.structs.replace(of, hosts=[])


def _changes(plan: TunePlan) -> bool:
    return any(one.changes for one in plan.hosts)


def _wanted(knob: TriedKnob, plan: TunePlan) -> str:
    """The recommended value, as people read it."""
    values = {each.change.value for one in plan.hosts for each in one.changes}
    if not values:
        by_hand = next((each.how for one in plan.hosts for each in one.by_hand), "")
        why = f" ({by_hand})" if by_hand else ": give values to compare, ID=A,B"
        raise BadInput(f"{knob.name} has nothing that could be changed here{why}.")
    return "/".join(sorted(values))


def _check(knob: TriedKnob, plan: TunePlan) -> None:
    for one in plan.hosts:
        if one.refused:
            raise BadInput(f"{one.host} is left alone: {one.refused}.")
        if one.by_hand:
            raise BadInput(
                f"{knob.name} on {one.host} is not changed while it is measured:"
                f" {one.by_hand[0].how}."
            )


class AppliedKnob(AbstractContextManager["AppliedKnob"]):
    """Leaving it brings the old value back, unless ``keep`` was called."""

    def __exit__(self, *_: object) -> None:
        """Where nothing was changed there is nothing to take away."""

    def put(self, value: int) -> Variables:
        """Value number ``value`` is in force now, in runs with these variables. Raises
        ``CouldNotMeasure`` when that cannot be.
        """
        raise NotImplementedError

    def keep(self, value: int) -> str:
        """The value stays; what the user has to do, in a sentence."""
        raise NotImplementedError


class OnHosts(AppliedKnob):
    """The knob on all hosts of ``target`` at once. ``timeout_s``: of the timer, longer than the
    runs that one value has in a row.
    """

    def __init__(
        self,
        plans: Sequence[TunePlan],
        target: Target,
        *,
        timeout_s: int,
        place: JournalPlace | None,
        reporter: Reporter,
    ) -> None:
        self._plans = [_without_drop_ins(one) for one in plans]
        self._whole = list(plans)
        self._target, self._place = target, place
        self._timeout_s, self._reporter = timeout_s, reporter
        self._name = ""
        self._hosts: tuple[str, ...] = ()
        self._value = -1

    def __exit__(self, *ended: object) -> None:
        try:
            self._take_away()
        except CouldNotMeasure as lost:
            if ended[0] is None:
                raise
            self._reporter.warn(str(lost))

    def put(self, value: int) -> Variables:
        if value != self._value:
            self._take_away()
            self._apply(self._plans[value], self._timeout_s)
            self._value = value
        return {}

    def keep(self, value: int) -> str:
        self._take_away()
        if not _changes(self._whole[value]):
            return "the value that helps is the one that stood there before: nothing is changed"
        self._apply(self._whole[value], KEPT_S)
        name, self._name = self._name, ""
        return (
            f"it is applied and reverts by itself in {KEPT_S // 60} min unless"
            f" `wireproof tune confirm {name}` with the same hosts comes before"
        )

    def _apply(self, plan: TunePlan, timeout_s: int) -> None:
        if not _changes(plan):
            return
        # Known before anything is written: what an interruption leaves is taken away, too.
        self._name, self._hosts = new_id(), tuple(one.host for one in plan.hosts)
        done = apply(plan, self._target, name=self._name, timeout_s=timeout_s, place=self._place)
        self._hosts = tuple(one.host for one in done.hosts if _may_be_changed(one))
        if why := _failure(done.hosts):
            raise CouldNotMeasure(f"the value could not be put in place: {why}.")

    def _take_away(self) -> None:
        """The old value, byte for byte; ``CouldNotMeasure`` when it is not back, or was
        back too early.
        """
        self._value = -1
        if not self._name or not self._hosts:
            return
        done = ask_nodes(self._target, "revert", self._hosts, self._name, self._place)
        if why := _failure(done):
            raise CouldNotMeasure(
                f"the old value is not restored ({why}): `wireproof tune status` says what stands"
                f" there, `wireproof tune revert {self._name}` tries again."
            )
        self._name = ""
        early = next((one.host for one in done if _was_back(one)), "")
        if early:
            raise CouldNotMeasure(
                f"the value on {early} was taken back before its runs had ended: by its timer, by"
                " the command, or by another user."
            )


def _without_drop_ins(plan: TunePlan) -> TunePlan:
    """Drop-ins are for what stays."""
    hosts = [msgspec.structs.replace(one, keeps=[]) for one in plan.hosts if one.changes]
    return msgspec.structs.replace(plan, hosts=hosts)


def _may_be_changed(one: HostTuned) -> bool:
    """Its program took the set and has not undone it already, or did not answer to the end."""
    if one.sets:
        return any(each.state != "reverted" for each in one.sets)
    return one.status not in (0, 1, 2)


def _was_back(one: HostTuned) -> bool:
    """The old value stood there before it was written back: the runs were not with the new one."""
    return all(each.state == "already" for each in one.changes)


def _failure(hosts: Sequence[HostTuned]) -> str:
    """What the first host says that did not do it; "" when all did."""
    for one in hosts:
        if one.problem or one.status != 0:
            said = next((each for each in one.changes if each.reason), None)
            reason = f"{said.id}: {said.reason}" if said is not None else ""
            return f"{one.host}: {one.problem or reason or f'status {one.status}'}"
    return ""
