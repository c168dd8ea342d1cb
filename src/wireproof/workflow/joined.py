"""The settings of the hosts joined to what was measured: the slow node and the setting that may be
the cause. The verdict stays the measurement's.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec

from wireproof.locate.causes.differing import WrongSettings
from wireproof.locate.causes.settings import with_settings as with_setting_causes
from wireproof.model.setting import Audit, Setting
from wireproof.report.judged_run import JudgedRun
from wireproof.verdict.located.findings import with_causes
from wireproof.verdict.located.short import with_short_causes
from wireproof.workflow.audit import settings_by_id


def with_settings(sections: Sequence[JudgedRun], audit: Audit) -> list[JudgedRun]:
    """The sections of one check; the first tells of the hosts' settings, and each which of them may
    be the cause of what is slow.
    """
    known = settings_by_id()
    audit = without_own_doing(audit)
    found = [joined(section, audit, known) for section in sections]
    return [dataclasses.replace(found[0], settings=audit), *found[1:]]


def without_own_doing(audit: Audit) -> Audit:
    """The settings are read after the measurement, which loads its hosts itself."""
    said = "Load of the machine: the check itself has just loaded it"
    results = [
        msgspec.structs.replace(one, status="not-applicable", message=said, fix="", undo="")
        if one.id == "load" and one.status != "unknown"
        else one
        for one in audit.results
    ]
    return msgspec.structs.replace(audit, results=results)


def joined(section: JudgedRun, audit: Audit, settings: Mapping[str, Setting]) -> JudgedRun:
    """``section`` whose culprits and slow pairs name the settings that may be the cause."""
    if not section.run.claim.wire:
        return section
    link = section.run.claim.link
    wrong = WrongSettings(audit, settings, section.run)
    located = tuple(with_setting_causes(one, wrong, link) for one in section.located)
    judgement = with_causes(section.judgement, located)
    least = section.criteria.min_efficiency
    judgement = with_short_causes(judgement, wrong, link, located, least)
    return dataclasses.replace(section, located=located, judgement=judgement)
