# pure
"""Build the plan of a host: changes with current values, drop-ins, and manual steps. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from wireproof.audit.facts import HostFacts
from wireproof.audit.machine import Machine
from wireproof.audit.remedy import TAKES, is_plain, line_of
from wireproof.model.errors import BadInput
from wireproof.model.setting import Read
from wireproof.model.tuning import ByHand, Change, HostPlan, Keep, PlannedChange, PlannedKeep
from wireproof.tune.allowed import coupled_with, refused
from wireproof.tune.settings_files import is_text, merged
from wireproof.tune.standing import has_value, standing, text_of_file
from wireproof.tune.wishes import Named, Wish

_RED_HAT = {"rhel", "centos", "rocky", "almalinux", "ol", "fedora", "scientific", "amzn"}
_DEBIAN = {"debian", "ubuntu", "linuxmint", "pop"}
_SUSE = {"sles", "sled", "opensuse-leap", "opensuse-tumbleweed", "sle_hpc"}
_STRANGE = "its name cannot be used in a command or a file"
_GRUB_D = "/etc/default/grub.d/90-wireproof.cfg"


def added(argument: str, system: object, *, image: bool) -> str:
    """Return instructions for adding a kernel argument on ``system`` (ID of os-release). ``image``:
    the system is an image (ostree).
    """
    if image:
        return (
            f"rpm-ostree kargs --append-if-missing={argument}, or with bootc"
            f' kargs = ["{argument}"] in /usr/lib/bootc/kargs.d/90-wireproof.toml of the image;'
            " then a reboot"
        )
    if system in _DEBIAN:
        line = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {argument}"'
        return f"the line {line} in {_GRUB_D}, then update-grub and a reboot"
    if system in _SUSE:
        return f'pbl --add-option "{argument}" and pbl --config, then a reboot'
    grubby = f'grubby --update-kernel=ALL --args="{argument}"'
    if system in _RED_HAT:
        return f"{grubby}, then a reboot"
    return (
        f"the kernel argument {argument} with the system's boot loader tool ({grubby}), then a"
        " reboot"
    )


MOST_CHANGES = 4096
"""Maximum number of changes that the node program accepts at once."""


@dataclass(frozen=True)
class Allowed:
    """``link_down``: interfaces may go down for a moment. ``carrying``: interfaces that carry the
    connection to the host; None if unknown, so that no interface may go down.
    """

    link_down: bool = False
    carrying: frozenset[str] | None = frozenset()


def host_plan(
    machine: Machine, wishes: Sequence[Wish], asked: Sequence[Named], allowed: Allowed
) -> HostPlan:
    """Build the plan for this host from the wishes and the files in ``asked``."""
    plan = _Plan(machine, allowed)
    for wish in wishes:
        plan.add(wish)
    for request in asked:
        if request.path:
            plan.add_file(request)
        elif not any(request.is_of(wish.entry.setting.id, wish.instance.label) for wish in wishes):
            what = "cannot be set here" if request.value else "needs no change here"
            plan.notes.append(f"{request.title} {what}")
    return plan.whole()


_OF_A_NODE = ("/proc/sys/net/", "/sys/class/net/")


def of_lab(plan: HostPlan) -> HostPlan:
    """Return the part of the plan that affects only a lab's node. All other changes, and files,
    belong to the whole machine and are left out.
    """
    private: list[PlannedChange] = []
    shared: list[PlannedChange] = []
    for planned in plan.changes:
        mine = planned.change.kind == "command" or planned.change.path.startswith(_OF_A_NODE)
        (private if mine else shared).append(planned)
    notes = [
        f"{planned.change.id} belongs to the whole machine and is not changed in a lab"
        for planned in shared
    ]
    return msgspec.structs.replace(plan, changes=private, keeps=[], notes=[*plan.notes, *notes])


class _Plan:
    def __init__(self, machine: Machine, allowed: Allowed) -> None:
        self.machine, self.allowed = machine, allowed
        self.facts: HostFacts = machine.facts
        self.changes: dict[str, PlannedChange] = {}
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.by_hand: list[ByHand] = []
        self.notes: list[str] = []

    def add(self, wish: Wish) -> None:
        fix = wish.remedy.fix
        strange = "" if is_plain(wish.instance) else _STRANGE
        why = wish.why_not or strange or self._stays_up(wish)
        if why:
            how = wish.remedy.by_hand or "nothing is changed"
            self._left(wish, f"{why}: {how}")
            return
        planned_changes = list(self._changes(wish)) if fix.at_once else []
        for planned in planned_changes:
            self.changes.setdefault(planned.change.path or planned.change.id, planned)
        self._for_good(wish, changed=bool(planned_changes))
        if fix.kernel or wish.remedy.by_hand or not (planned_changes or wish.remedy.line):
            self._left(wish, self._how(wish))

    def _for_good(self, wish: Wish, *, changed: bool) -> None:
        """Add the line of the drop-in. If nothing is changed immediately, add a note about when the
        line takes effect.
        """
        fix, line = wish.remedy.fix, wish.remedy.line
        if fix.at_once and not changed:
            if line:
                self.notes.append(f"{wish.id} already has the value {wish.remedy.value}")
            return
        if line:
            self.lines[fix.persist] += line.splitlines()
        if line and not fix.at_once:
            why = wish.entry.setting.why
            self.notes.append(
                f"{wish.id}: it is only written to the file and takes effect {TAKES[fix.takes]}."
                f" {why}"
            )

    def _left(self, wish: Wish, how: str) -> None:
        setting = wish.entry.setting
        self.by_hand.append(
            ByHand(
                id=wish.id,
                how=how,
                why=setting.why,
                undo=wish.remedy.fix.undo,
                effect=setting.effect,
            )
        )

    def _how(self, wish: Wish) -> str:
        fix = wish.remedy.fix
        steps = [wish.remedy.by_hand] if wish.remedy.by_hand else []
        if fix.kernel:
            image = self.facts.file("/run/ostree-booted").text is not None
            steps.insert(0, added(fix.kernel, self.machine.names.get("host.os"), image=image))
        return "; ".join(steps) or "no file of this setting was found on this host"

    def _stays_up(self, wish: Wish) -> str:
        """Return the reason why the interface must not go down; "" if it may, or if it stays up."""
        if wish.remedy.fix.takes != "link-down" or not wish.remedy.fix.at_once:
            return ""
        if not self.allowed.link_down:
            return "the link goes down for a moment, so it needs --allow-link-down"
        if self.allowed.carrying is None:
            return "it is unknown which interface carries the connection to this host"
        if wish.instance.label in self.allowed.carrying:
            return "this interface carries the connection to the host"
        return ""

    def _changes(self, wish: Wish) -> Iterator[PlannedChange]:
        """Yield a change for each file with another value."""
        setting = wish.entry.setting
        for change in self._wanted(wish):
            was = standing(self.facts, change)
            if not has_value(change, was):
                yield PlannedChange(
                    change=change,
                    was=was,
                    why=setting.why,
                    undo=wish.remedy.fix.undo,
                    effect=setting.effect,
                    link_down=wish.remedy.fix.takes == "link-down",
                )

    def _wanted(self, wish: Wish) -> Iterator[Change]:
        remedy, setting = wish.remedy, wish.entry.setting
        if remedy.command:
            read = _read_by(wish)
            yield Change(
                id=wish.id,
                kind="command",
                value=remedy.value,
                read=read.command,
                section=read.section,
                key=read.key,
                write=remedy.command,
            )
            return
        for path in self._files(wish):
            yield Change(
                id=f"{wish.id}{_varying(path, remedy.file)}",
                value=remedy.value,
                path=path,
                form="choice" if setting.form == "choice" else "plain",
                coupled=self._coupled(path, remedy.coupled),
            )

    def _files(self, wish: Wish) -> list[str]:
        """Return the files that match the pattern; a snapshot may contain only the file that was
        read.
        """
        if "*" not in wish.remedy.file:
            return [wish.remedy.file]
        return self.facts.matching(wish.remedy.file) or [wish.reading.place]

    def _coupled(self, path: str, named: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the coupled files that exist."""
        candidates = dict.fromkeys([*named, *coupled_with(path)])
        return tuple(coupled for coupled in candidates if self.facts.file(coupled).text is not None)

    def add_file(self, request: Named) -> None:
        """Add a file that is not a setting of the catalogue. Raise ``BadInput`` if a setting also
        changes it.
        """
        if same := self.changes.get(request.path):
            raise BadInput(
                f"{same.change.id} and {request.path} are the same file: give one value for it."
            )
        if why := refused(request.path, request.value):
            raise BadInput(f"{why}. Change it by hand.")
        text = self.facts.file(request.path).text
        choice = text is not None and "[" in text
        change = Change(
            id=request.path,
            value=request.value,
            path=request.path,
            form="choice" if choice else "plain",
            coupled=self._coupled(request.path),
        )
        if text is None:
            self.notes.append(f"{request.path} {self.facts.file(request.path).why}")
            return
        if has_value(change, text.strip()):
            self.notes.append(f"{request.path} already has the value {request.value}")
            return
        why = "It was requested by name."
        undo = "write the old value back"
        self.changes.setdefault(
            request.path, PlannedChange(change=change, was=text.strip(), why=why, undo=undo)
        )
        folder = "sysctl.d" if request.path.startswith("/proc/sys/") else "tmpfiles.d"
        persist = f"/etc/{folder}/90-wireproof.conf"
        if line := line_of(persist, request.path, (), request.value):
            self.lines[persist].append(line)

    def whole(self) -> HostPlan:
        changes = list(self.changes.values())
        refused = ""
        if len(changes) > MOST_CHANGES:
            refused = (
                f"{len(changes)} changes are more than the maximum of {MOST_CHANGES}: select some"
                " settings"
            )
        return HostPlan(
            host=self.facts.host,
            changes=changes,
            keeps=list(self._keeps()),
            by_hand=self.by_hand,
            notes=self.notes,
            refused=refused,
        )

    def _keeps(self) -> Iterator[PlannedKeep]:
        for path, lines in sorted(self.lines.items()):
            try:
                now = text_of_file(self.facts, path)
            except ValueError as error:
                self.notes.append(f"{path} {error}: nothing is written there")
                continue
            if not is_text(now or ""):
                self.notes.append(
                    f"{path} is longer than 65536 bytes or contains control characters: nothing"
                    " is written there"
                )
                continue
            text = merged(path, now, lines)
            if text != now:
                yield PlannedKeep(keep=Keep(path=path, text=text), was=now)


def _read_by(wish: Wish) -> Read:
    """Return the file or command from which the value was read, with the instance's names filled
    in.
    """
    nic = wish.instance.places.get("nic", "")
    for read in wish.entry.setting.reads:
        argv = tuple(word.replace("{nic}", nic) for word in read.command)
        if " ".join(argv) == wish.reading.place:
            return Read(command=argv, section=read.section, key=read.key)
    raise AssertionError(wish.reading.place)


def _varying(path: str, pattern: str) -> str:
    """Return the parts of ``path`` that match the pattern's wildcards, such as ``/cpu7``."""
    if "*" not in pattern:
        return ""
    pairs = zip(path.split("/"), pattern.split("/"), strict=False)
    return "".join(f"/{part}" for part, known in pairs if "*" in known)
