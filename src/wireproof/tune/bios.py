"""Which attributes of the firmware are to be changed, and to which of the values that the BMC
lists. Pure.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.audit.catalogue import Catalogue, ParsedSetting
from wireproof.audit.expression import UNKNOWN
from wireproof.audit.firmware import BIOS, Attribute, plain_name, word
from wireproof.audit.judge import Names
from wireproof.audit.machine import WHOLE, Machine
from wireproof.audit.reading import attributes_of
from wireproof.model.bmc import PlannedAttribute, Raw
from wireproof.model.quantity import whole
from wireproof.model.setting import Profile
from wireproof.model.tuning import HostPlan
from wireproof.tune.named import Named

_Good = Callable[[str], bool | None]
_SWITCH = ("Enabled", "Disabled")
_PAIRS = (("Disabled", "Enabled"), ("Disable", "Enable"), ("Off", "On"), ("No", "Yes"))
_MOST_LISTED = 8
_LONGEST_NUMBER = 12
_UNDO = "wireproof tune revert, which asks for the old value at the next reboot"


@dataclass(frozen=True)
class FirmwareWish:
    """``change`` None: ``why_not`` says why the attribute stays as it is."""

    id: str
    change: PlannedAttribute | None = None
    why_not: str = ""


def firmware_wishes(
    machine: Machine, known: Catalogue, profile: Profile, asked: Sequence[Named] = ()
) -> list[FirmwareWish]:
    """Of the firmware's settings that are asked for, or of all that fail. None where no BMC gave
    the attributes.
    """
    if machine.facts.file(BIOS).text is None:
        return []
    given = {one.name: one.value for one in asked}
    entries = [
        entry
        for name, entry in known.entries.items()
        if any(read.file == BIOS for read in entry.setting.reads) and (not asked or name in given)
    ]
    return [
        wish
        for entry in entries
        for wish in _of(machine, known, profile, entry, given.get(entry.setting.id, ""))
    ]


def with_attributes(plan: HostPlan, wishes: Sequence[FirmwareWish]) -> HostPlan:
    """The plan with what the BMC is asked for; what a person was to do about it is left out."""
    settled = {one.id for one in wishes}
    return msgspec.structs.replace(
        plan,
        firmware=[one.change for one in wishes if one.change is not None],
        by_hand=[one for one in plan.by_hand if one.id not in settled],
        notes=[*plan.notes, *(f"{one.id}: {one.why_not}" for one in wishes if one.why_not)],
    )


def _of(
    machine: Machine, known: Catalogue, profile: Profile, entry: ParsedSetting, value: str
) -> Iterator[FirmwareWish]:
    found = attributes_of(machine, entry.setting)
    names = Names(machine, known, WHOLE, UNKNOWN)
    if len(found) != 1 or entry.applies.holds(names) is not True:
        if value:
            yield FirmwareWish(entry.setting.id, why_not="it cannot be told which attribute it is")
        return

    def good(text: str) -> bool | None:
        """Whether a value, as the menu has it, is good here."""
        return entry.good[profile].holds(Names(machine, known, WHOLE, word(text)))

    if value or good(found[0].shown(found[0].later)) is False:
        yield _wish(entry, found[0], good, value)


def _wish(entry: ParsedSetting, one: Attribute, good: _Good, value: str) -> FirmwareWish:
    setting = entry.setting
    wanted = _given(one, value) if value else _best(one, good)
    if one.read_only:
        return FirmwareWish(setting.id, why_not=f"{one.display} can only be read")
    if wanted is None:
        listed = ", ".join(menu for _, menu in one.values[:_MOST_LISTED]) or "none"
        what = f"{value!r} is none of the values" if value else "none is right by itself"
        why = f"{what} that the BMC lists for {one.display} ({listed}): give {setting.id}=VALUE"
        return FirmwareWish(setting.id, why_not=why)
    if wanted == one.later:
        return FirmwareWish(setting.id, why_not=f"{one.display} has that value already")
    change = PlannedAttribute(
        id=setting.id,
        attribute=one.name,
        display=one.display,
        was=one.now,
        pending=one.later,
        wanted=wanted,
        why=setting.why,
        undo=_UNDO,
        effect=setting.effect,
    )
    return FirmwareWish(setting.id, change)


def _best(one: Attribute, good: _Good) -> Raw | None:
    """The one listed value that is good; of several on or off. None: a person has to choose."""
    right = [name for name, menu in one.values if good(menu) is True]
    switch = [name for name, menu in one.values if name in right and word(menu) in _SWITCH]
    if len(right) == 1:
        return right[0]
    if len(switch) == 1:
        return switch[0]
    if one.values or word(one.shown(one.later)) not in _SWITCH:
        return None
    wanted = [each for each in _SWITCH if good(each) is True]
    return _given(one, wanted[0]) if len(wanted) == 1 else None


def _given(one: Attribute, text: str) -> Raw | None:
    """The value that ``text`` means: as it is written, as the menu has it, or on and off in this
    BMC's own words; None where the BMC lists others.
    """
    for name, menu in one.values:
        if text in (name, menu) or plain_name(text) == plain_name(menu) or word(menu) == text:
            return name
    if one.values:
        return None
    if isinstance(one.later, bool):
        return {"Enabled": True, "Disabled": False}.get(word(text))
    if isinstance(one.later, (int, float)):
        return whole(text) if len(text) < _LONGEST_NUMBER else None
    return _in_its_words(one.later, word(text)) or text


def _in_its_words(now: str, wanted: str) -> str:
    """``Enable`` where the BMC writes ``Disable``; "" where it writes neither."""
    for off, on in _PAIRS:
        if now.casefold() in (off.casefold(), on.casefold()) and wanted in _SWITCH:
            return on if wanted == "Enabled" else off
    return ""
