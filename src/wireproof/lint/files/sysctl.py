# pure
"""sysctl.d: settings of the kernel's network stack."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wireproof.lint.fragments import Fragment, Part, WrittenLine, at, misspelt
from wireproof.lint.rule import Broken
from wireproof.lint.tables import Sysctl, folders, listed, nearest, sysctls

ASSIGNMENT = re.compile(r"\s*-?\s*(?P<name>[^\s=#;]+)\s*=\s*(?P<value>.*?)\s*$")
COMMAND = re.compile(r"\s*(?:sudo\s+)?(?:/\S*/)?sysctl\s+(?:-\S+\s+)*(?P<rest>\S.*)$")
SIZE = re.compile(r"([0-9]{1,12})\s?([kKmMgG])(?:i?[bB])?$")
UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
INT_MAX = 2**31 - 1
BYTES = re.compile(
    r"net\.core\.[rw]mem_(?:max|default)$|net\.core\.optmem_max$|net\.ipv4\.tcp_[rw]mem$"
)


@dataclass(frozen=True, slots=True)
class SysctlSetting:
    """A setting: ``name`` is dotted; ``key`` and ``value`` are as written in the line."""

    name: str
    key: Part
    value: Part

    @property
    def row(self) -> Sysctl:
        """The known facts of the setting."""
        return sysctls().get(self.name) or Sysctl(name=self.name)

    def wrong(self, seen: str = "", new: str | None = None) -> Broken:
        """Report that the value is out of its range."""
        said = seen or f"{self.name} = {self.value.text}"
        return self.value.broken("sysctl-value-range", said, new)


def sysctl(fragment: Fragment) -> Iterator[Broken]:
    """Check a file of settings."""
    settings: dict[str, SysctlSetting] = {}
    for line in fragment.lines:
        if not line.text.strip() or line.text.lstrip()[0] in "#;":
            continue
        setting = setting_of(line)
        if setting is None:
            yield from _no_setting(fragment, line)
            continue
        yield from judge_setting(setting)
        first = settings.get(setting.name)
        now = setting.value.text
        if first and first.value.text.split() != now.split() and not fragment.quoted:
            before = f"{first.value.text} on line {first.key.line.number}"
            yield setting.key.broken("sysctl-twice", f"{setting.name} is {before}, then {now}")
        settings[setting.name] = setting
    for letter in "rw":
        yield from _below(
            settings.get(f"net.core.{letter}mem_max"), settings.get(f"net.ipv4.tcp_{letter}mem")
        )


def setting_of(line: WrittenLine) -> SysctlSetting | None:
    """Return the setting of a line; None if it is not a setting."""
    found = ASSIGNMENT.match(line.text)
    if not found:
        return None
    key, value = (Part(line, found.start(name), found[name]) for name in ("name", "value"))
    name = key.text.replace("/", ".") if "." not in key.text else key.text
    return SysctlSetting(name, key, value)


def _no_setting(fragment: Fragment, line: WrittenLine) -> Iterator[Broken]:
    """Check a command, or a name without ``=``; ``-NAME`` excludes a name from a pattern."""
    command = COMMAND.match(line.text)
    pair = re.match(r"\s*((?:net|vm)\.[\w.]+)(?:\s*:\s*|\s+)([\w ]{1,60})$", line.text)
    whole = not (fragment.quoted or fragment.expanded or line.text.lstrip().startswith("-"))
    fix = f"{pair[1]} = {pair[2].strip()}" if pair else None
    if command or pair or whole:
        yield _no_line(line, command["rest"].strip("\"'") if command else fix)


def _no_line(line: WrittenLine, fix: str | None) -> Broken:
    return at("sysctl-not-a-setting", line, 0, line.text.strip(), fix)


def judge_setting(setting: SysctlSetting) -> Iterator[Broken]:
    """Check a single setting; also used for ``sysctl -w``."""
    line = setting.key.line
    command = COMMAND.match(line.text)
    folder, _, name = setting.name.rpartition(".")
    removed = setting.row.removed
    if command and not line.before and setting.name == "sysctl":
        yield _no_line(line, command["rest"].strip("\"'"))
    elif name not in folders().get(folder, (name,)):
        yield from _unknown(setting, folder, name)
    elif removed:
        yield setting.key.broken("sysctl-removed", f"{setting.name}: {removed}")
    # values that a script fills in are not checked
    elif not re.search(r"[$`<]", setting.value.text):
        yield from _value(setting)


def _unknown(setting: SysctlSetting, folder: str, name: str) -> Iterator[Broken]:
    """Find a name that resembles an existing name, in this folder or in the neighbouring one."""
    elsewhere = next(
        (other for other, names in folders().items() if other != folder and name in names), None
    )
    meant = name if elsewhere else nearest(name, folders()[folder])
    if meant:
        full = f"{elsewhere or folder}.{meant}"
        yield setting.key.broken("sysctl-unknown-name", f"{setting.name}; nearest is {full}", full)


def _value(setting: SysctlSetting) -> Iterator[Broken]:
    value, form = setting.value, setting.row.form
    if comment := re.search(r"\s[#;]", value.text):
        line = value.line.text
        start = value.offset + comment.start()
        fix = f"# {line[start:].strip().lstrip('#; ')}\n{line[:start].rstrip()}"
        yield at("sysctl-comment-after-value", value.line, start + 1, value.text, fix)
        return
    plain = _plain(setting)
    if plain != value.text:
        yield value.broken("sysctl-value-form", f"{setting.name} = {value.text}", plain)
    if form == "triple":
        yield from _triple(setting, plain.split())
    elif form == "integer":
        yield from _number(setting, plain)
    elif setting.name == "net.ipv4.tcp_congestion_control":
        yield from misspelt("sysctl-value-range", value, listed("congestion-controls"), 0.75)


def _plain(setting: SysctlSetting) -> str:
    """Return the value in the form that the kernel accepts: without quotes, commas between numbers
    and unit letters.
    """
    form, plain = setting.row.form, setting.value.text
    if not form:
        return plain
    quoted = len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'"
    if quoted and not setting.value.line.before:
        plain = plain[1:-1].strip()
    if form == "triple":
        plain = re.sub(r"(?<=[0-9a-zA-Z]),\s?(?=[0-9])", " ", plain)
    if BYTES.match(setting.name) and SIZE.search(plain):
        plain = " ".join(_in_bytes(word) for word in plain.split())
    return plain


def _in_bytes(word: str) -> str:
    """Return ``16M`` as 16777216; other words unchanged."""
    size = SIZE.fullmatch(word)
    return str(int(size[1]) * UNITS[size[2].lower()]) if size else word


def _triple(setting: SysctlSetting, numbers: list[str]) -> Iterator[Broken]:
    """Check three numbers, which must not decrease."""
    seen = f"{setting.name} = {setting.value.text}"
    if len(numbers) != 3 or not all(text.isascii() and text.isdigit() for text in numbers):
        yield setting.value.broken("sysctl-three-values", seen)
        return
    low, middle, high = (int(text[:20]) for text in numbers)
    if not low <= middle <= high:
        ordered = " ".join(map(str, sorted((low, middle, high))))
        yield setting.value.broken("sysctl-three-values", seen, ordered)
    elif high > INT_MAX and setting.name.endswith(("tcp_rmem", "tcp_wmem")):
        yield setting.wrong(f"{high} is above {INT_MAX}")


def _number(setting: SysctlSetting, plain: str) -> Iterator[Broken]:
    if not re.fullmatch(r"-?[0-9]{1,20}|0x[0-9a-fA-F]{1,16}", plain):
        if plain == setting.value.text:
            yield setting.wrong()
        return
    value = int(plain, 16 if plain.startswith("0x") else 10)
    low, high = setting.row.low, setting.row.high
    if not low <= value <= high and not setting.name.startswith("vm.nr_"):
        yield setting.wrong(f"{setting.name} = {value}; it accepts {low} to {high}")
    elif (setting.name, value) == ("net.ipv4.tcp_window_scaling", 0):
        seen = (
            "net.ipv4.tcp_window_scaling = 0 limits each connection to 65535 bytes per round trip: "
            "0.66 GB/s at 100 us"
        )
        yield setting.wrong(seen, "1")


def _below(ceiling: SysctlSetting | None, window: SysctlSetting | None) -> Iterator[Broken]:
    """Compare net.core.rmem_max with tcp_rmem, and the same for wmem."""
    if not ceiling or not window or not re.fullmatch(r"[0-9]{1,12}", ceiling.value.text):
        return
    high = (window.value.text.split() or [""])[-1]
    if re.fullmatch(r"[0-9]{1,12}", high) and int(ceiling.value.text) < int(high):
        seen = f"{ceiling.name} = {ceiling.value.text} < {high} of {window.name}"
        yield ceiling.value.broken("sysctl-maximum-below", seen, high)
