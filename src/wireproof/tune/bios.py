"""Choose which firmware attributes to change, and to which of the values that the BMC
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
from wireproof.tune.wishes import Named

_Good = Callable[[str], bool | None]
_SWITCH = ("Enabled", "Disabled")
_PAIRS = (("Disabled", "Enabled"), ("Disable", "Enable"), ("Off", "On"), ("No", "Yes"))
_MOST_LISTED = 8
_LONGEST_NUMBER = 12
_UNDO = "wireproof tune revert, which asks for the old value at the next reboot"


@dataclass(frozen=True)
class FirmwareWish:
    """A wanted change of a firmware setting. If ``change`` is None, ``why_not`` gives the
    reason.
    """

    id: str
    change: PlannedAttribute | None = None
    why_not: str = ""


def firmware_wishes(
    machine: Machine, known: Catalogue, profile: Profile, asked: Sequence[Named] = ()
) -> list[FirmwareWish]:
    """Return wishes for the requested firmware settings, or for all that fail. Empty if no BMC
    supplied the attributes.
    """
    if machine.facts.file(BIOS).text is None:
        return []
    given = {request.name: request.value for request in asked}
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
    """Add to the plan what the BMC is asked for, and drop the manual steps that this replaces."""
    settled = {item.id for item in wishes}
    return msgspec.structs.replace(
        plan,
        firmware=[item.change for item in wishes if item.change is not None],
        by_hand=[item for item in plan.by_hand if item.id not in settled],
        notes=[*plan.notes, *(f"{item.id}: {item.why_not}" for item in wishes if item.why_not)],
    )


def _of(
    machine: Machine, known: Catalogue, profile: Profile, entry: ParsedSetting, value: str
) -> Iterator[FirmwareWish]:
    attributes = attributes_of(machine, entry.setting)
    names = Names(machine, known, WHOLE, UNKNOWN)
    if len(attributes) != 1 or entry.applies.holds(names) is not True:
        if value:
            yield FirmwareWish(entry.setting.id, why_not="it is unclear which attribute it is")
        return

    def good(text: str) -> bool | None:
        return entry.good[profile].holds(Names(machine, known, WHOLE, word(text)))

    if value or good(attributes[0].shown(attributes[0].later)) is False:
        yield _wish(entry, attributes[0], good, value)


def _wish(entry: ParsedSetting, attribute: Attribute, good: _Good, value: str) -> FirmwareWish:
    setting = entry.setting
    wanted = _given(attribute, value) if value else _best(attribute, good)
    if attribute.read_only:
        return FirmwareWish(setting.id, why_not=f"{attribute.display} can only be read")
    if wanted is None:
        listed = ", ".join(menu for _, menu in attribute.values[:_MOST_LISTED]) or "none"
        what = f"{value!r} is not among the" if value else "no single value is right among the"
        why = f"{what} values that the BMC lists for {attribute.display} ({listed})"
        why = f"{why}: give {setting.id}=VALUE"
        return FirmwareWish(setting.id, why_not=why)
    if wanted == attribute.later:
        return FirmwareWish(setting.id, why_not=f"{attribute.display} has that value already")
    change = PlannedAttribute(
        id=setting.id,
        attribute=attribute.name,
        display=attribute.display,
        was=attribute.now,
        pending=attribute.later,
        wanted=wanted,
        why=setting.why,
        undo=_UNDO,
        effect=setting.effect,
    )
    return FirmwareWish(setting.id, change)


def _best(attribute: Attribute, good: _Good) -> Raw | None:
    """Return the only good value of the list, or the only good value among on and off. None if a
    person has to choose.
    """
    right = [name for name, menu in attribute.values if good(menu) is True]
    switch = [name for name, menu in attribute.values if name in right and word(menu) in _SWITCH]
    if len(right) == 1:
        return right[0]
    if len(switch) == 1:
        return switch[0]
    if attribute.values or word(attribute.shown(attribute.later)) not in _SWITCH:
        return None
    wanted = [state for state in _SWITCH if good(state) is True]
    return _given(attribute, wanted[0]) if len(wanted) == 1 else None


def _given(attribute: Attribute, text: str) -> Raw | None:
    """Return the value that ``text`` means: as written, as in the menu, or on and off in the BMC's
    words. None if the BMC lists other values.
    """
    for name, menu in attribute.values:
        if text in (name, menu) or plain_name(text) == plain_name(menu) or word(menu) == text:
            return name
    if attribute.values:
        return None
    if isinstance(attribute.later, bool):
        return {"Enabled": True, "Disabled": False}.get(word(text))
    if isinstance(attribute.later, (int, float)):
        return whole(text) if len(text) < _LONGEST_NUMBER else None
    return _in_its_words(attribute.later, word(text)) or text


def _in_its_words(now: str, wanted: str) -> str:
    """Return ``Enable`` if the BMC writes ``Disable``, and so on; "" if it uses other words."""
    for off, on in _PAIRS:
        if now.casefold() in (off.casefold(), on.casefold()) and wanted in _SWITCH:
            return on if wanted == "Enabled" else off
    return ""
