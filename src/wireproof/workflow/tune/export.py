"""The work of ``wireproof tune export``: a plan as files of other tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from wireproof.model.errors import BadInput
from wireproof.model.tuning import HostPlan, TunePlan
from wireproof.settings.hosts import fold_hosts
from wireproof.tune.export import FORMS, ansible

__all__ = ["export"]


def export(plan: TunePlan, form: str) -> dict[str, str]:
    """Host set to text; all hosts in one text for ``ansible``. Raises ``BadInput`` where there is
    nothing to write, or several kinds of hosts in a form for one.
    """
    groups = _groups(plan.hosts)
    if not groups:
        raise BadInput("nothing is to be changed: there is nothing to export.")
    if form == "ansible":
        hosts = fold_hosts([host for _, names in groups for host in names])
        return {hosts: ansible(groups, plan.profile)}
    if len(groups) > 1:
        sets = "; ".join(fold_hosts(names) for _, names in groups[:4])
        raise BadInput(
            f"the hosts have {len(groups)} different plans ({sets}): export those of one with"
            " --hosts, or all as ansible."
        )
    (one, names) = groups[0]
    return {fold_hosts(names): FORMS[form](one, names, plan.profile)}


def _groups(hosts: Sequence[HostPlan]) -> list[tuple[HostPlan, list[str]]]:
    """Hosts with the same changes together; old values may differ."""
    found: dict[str, list[HostPlan]] = defaultdict(list)
    for one in hosts:
        if one.changes or one.keeps:
            changes = [each.change for each in one.changes]
            keeps = [each.keep for each in one.keeps]
            found[repr((changes, keeps, one.by_hand))].append(one)
    return [(group[0], [one.host for one in group]) for group in found.values()]
