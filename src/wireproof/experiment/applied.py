"""Put the value of a knob in force: a setting of the hosts by a change set of the node program,
which keeps the old value in its journal and restores it by a timer if the trial does not; a
variable by the environment of the runs.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import msgspec

from wireproof.experiment.trial_pattern import Variables
from wireproof.model.errors import BadInput, CouldNotMeasure
from wireproof.model.experiment import TriedKnob
from wireproof.model.tuning import HostTuned, TunePlan
from wireproof.report.reporter import Reporter
from wireproof.target import Target
from wireproof.tune.job import apply, may_be_touched, new_id
from wireproof.tune.node import JournalPlace, ask_nodes, hosts_of

KEPT_S = 600
"""Time in seconds after which a kept value is reverted unless it is confirmed."""

Planner = Callable[[str], TunePlan]
"""Returns the plan for ``SETTING`` or ``SETTING=VALUE``."""


def planned(
    knob: TriedKnob, plan: Planner, target: Target, environment: Mapping[str, str]
) -> tuple[TriedKnob, list[TunePlan]]:
    """Return the knob with explicit values, and the plan that changes the current values to each
    value.

    A current value has an empty plan.

    Raises ``BadInput`` if the setting cannot be changed at once, or has only one value.
    """
    asked = [knob.name if value is None else f"{knob.name}={value}" for value in knob.values]
    bare = knob.values == (None,)
    plans = [plan(text) if bare or "=" in text else TunePlan() for text in asked]
    if bare:
        plans = [msgspec.structs.replace(plans[0], hosts=[]), plans[0]]
        knob = msgspec.structs.replace(knob, values=(None, _wanted(knob, plans[1])))
    for value_plan in plans:
        _check(knob, may_be_touched(value_plan, target, environment))
    if sum(not _changes(value_plan) for value_plan in plans) > 1:
        raise BadInput(f"{knob.name}: the values do not differ from the current values.")
    return knob, plans


def refuse_open_sets(target: Target, place: JournalPlace | None) -> None:
    """Raise ``BadInput`` if a host still has a change set in force that is not confirmed, as a
    killed trial leaves it: its value would be taken for the old value.
    """
    for host in ask_nodes(target, "status", hosts_of(target), "", place):
        for each in host.sets:
            if each.state in ("applying", "armed"):
                raise BadInput(
                    f"{host.host} has a value of the change set {each.id}, which an interrupted"
                    f" trial may have left: `wireproof tune revert {each.id}` with the same hosts"
                    " restores the old value; then repeat this command."
                )


def _changes(plan: TunePlan) -> bool:
    return any(host.changes for host in plan.hosts)


def _wanted(knob: TriedKnob, plan: TunePlan) -> str:
    """Return the recommended value as shown to users."""
    values = {planned.change.value for host in plan.hosts for planned in host.changes}
    if not values:
        by_hand = next((step.how for host in plan.hosts for step in host.by_hand), "")
        why = f" ({by_hand})" if by_hand else ": give values to compare, ID=A,B"
        raise BadInput(f"{knob.name} cannot be changed here{why}.")
    return "/".join(sorted(values))


def _check(knob: TriedKnob, plan: TunePlan) -> None:
    for host in plan.hosts:
        if host.refused:
            raise BadInput(f"{host.host} is not changed: {host.refused}.")
        if host.by_hand:
            raise BadInput(
                f"{knob.name} on {host.host} cannot be changed during a trial:"
                f" {host.by_hand[0].how}."
            )


class OnHosts(AbstractContextManager["OnHosts"]):
    """The knob on all hosts of ``target`` at once; leaving the context restores the old value
    unless ``keep`` was called.

    ``timeout_s``: time limit of the timer, longer than the consecutive runs of one value.
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
        self._plans = [_without_drop_ins(plan) for plan in plans]
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
        """Put value number ``value`` in force for runs with the returned variables.

        Raises ``CouldNotMeasure`` if that fails.
        """
        if value != self._value:
            self._take_away()
            self._apply(self._plans[value], self._timeout_s)
            self._value = value
        return {}

    def keep(self, value: int) -> str:
        """Keep the value; return the user's next step as a sentence."""
        self._take_away()
        if not _changes(self._whole[value]):
            return "the best value is the one that was set before: nothing is changed"
        self._apply(self._whole[value], KEPT_S)
        name, self._name = self._name, ""
        return (
            f"it is applied, and is reverted automatically after {KEPT_S // 60} min unless"
            f" `wireproof tune confirm {name}` with the same hosts is run first"
        )

    def _apply(self, plan: TunePlan, timeout_s: int) -> None:
        if not _changes(plan):
            return
        # Set before anything is written, so that an interrupted change is reverted as well.
        self._name, self._hosts = new_id(), tuple(host.host for host in plan.hosts)
        done = apply(plan, self._target, name=self._name, timeout_s=timeout_s, place=self._place)
        self._hosts = tuple(host.host for host in done.hosts if _may_be_changed(host))
        if why := _failure(done.hosts):
            raise CouldNotMeasure(f"the value could not be set: {why}.")

    def _take_away(self) -> None:
        """Restore the old value, byte for byte.

        Raises ``CouldNotMeasure`` if it cannot be restored, or was restored too early.
        """
        self._value = -1
        if not self._name or not self._hosts:
            return
        done = ask_nodes(self._target, "revert", self._hosts, self._name, self._place)
        if why := _failure(done):
            raise CouldNotMeasure(
                f"the old value is not restored ({why}): `wireproof tune status` shows the"
                f" current values, `wireproof tune revert {self._name}` tries again."
            )
        self._name = ""
        # If the old value was already in place, the runs did not use the new value.
        early = [
            host.host for host in done if all(each.state == "already" for each in host.changes)
        ]
        if early:
            raise CouldNotMeasure(
                f"the value on {early[0]} was reverted before its runs had ended: by its "
                "timer, by the command, or by another user."
            )


def _without_drop_ins(plan: TunePlan) -> TunePlan:
    """Remove the drop-in files from the plan, because they are for permanent values."""
    hosts = [msgspec.structs.replace(host, keeps=[]) for host in plan.hosts if host.changes]
    return msgspec.structs.replace(plan, hosts=hosts)


def _may_be_changed(host: HostTuned) -> bool:
    """Return whether the host may still have the set: its program accepted it and has not reverted
    it, or its answer was incomplete.
    """
    if host.sets:
        return any(change_set.state != "reverted" for change_set in host.sets)
    return host.status not in (0, 1, 2)


def _failure(hosts: Sequence[HostTuned]) -> str:
    """Return the reason for the first host that failed, or ""."""
    for host in hosts:
        if host.problem or host.status != 0:
            explained = next((change for change in host.changes if change.reason), None)
            reason = f"{explained.id}: {explained.reason}" if explained is not None else ""
            return f"{host.host}: {host.problem or reason or f'status {host.status}'}"
    return ""


class InEnvironment(AbstractContextManager["InEnvironment"]):
    """An environment variable of the runs; nothing outside the runs is changed."""

    def __init__(self, knob: TriedKnob) -> None:
        self._knob = knob

    def __exit__(self, *_: object) -> None:
        """Restore nothing, because nothing was changed."""

    def put(self, value: int) -> Variables:
        return {self._knob.name: self._knob.values[value]}

    def keep(self, value: int) -> str:
        text = self._knob.values[value]
        do = f"unset {self._knob.name}" if text is None else f"export {self._knob.shown(value)}"
        return f"a variable exists only as long as its process: put `{do}` into the job script"


AppliedKnob = OnHosts | InEnvironment
