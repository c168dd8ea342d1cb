"""Joins the hosts' settings to what was measured: a slow node, and the setting that may be the
cause. The verdict does not change.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec

from wireproof.locate.causes.differing import WrongSettings
from wireproof.locate.causes.settings import with_settings as with_setting_causes
from wireproof.model.setting import Audit, Setting
from wireproof.report.judged_run import JudgedRun
from wireproof.verdict.located import with_causes
from wireproof.verdict.located.slow_pairs import with_short_causes
from wireproof.workflow.audit import settings_by_id


def with_settings(sections: Sequence[JudgedRun], audit: Audit) -> list[JudgedRun]:
    """Return the sections of one check; the first reports the hosts' settings, and each names those
    that may explain its slowness.
    """
    known = settings_by_id()
    audit = without_own_doing(audit)
    first, *rest = (joined(section, audit, known) for section in sections)
    return [dataclasses.replace(first, settings=audit), *rest]


def without_own_doing(audit: Audit) -> Audit:
    """Ignore the load of the hosts: the settings are read after the measurement, which causes load
    itself.
    """
    message = "Load of the machine: the check itself has just loaded it"
    results = [
        msgspec.structs.replace(row, status="not-applicable", message=message, fix="", undo="")
        if row.id == "load" and row.status != "unknown"
        else row
        for row in audit.results
    ]
    return msgspec.structs.replace(audit, results=results)


def joined(section: JudgedRun, audit: Audit, settings: Mapping[str, Setting]) -> JudgedRun:
    """Return ``section`` with the settings that may explain its culprits and slow pairs."""
    if not section.run.claim.wire:
        return section
    link = section.run.claim.link
    wrong = WrongSettings(audit, settings, section.run)
    located = tuple(with_setting_causes(located, wrong, link) for located in section.located)
    judgement = with_causes(section.judgement, located)
    least = section.criteria.min_efficiency
    judgement = with_short_causes(judgement, wrong, link, located, least)
    return dataclasses.replace(section, located=located, judgement=judgement)
