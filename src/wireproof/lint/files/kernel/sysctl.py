"""sysctl.d: settings of the kernel's network stack."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wireproof.lint.files.fragments import WrittenLine, at, fragments
from wireproof.lint.files.nearest import nearest
from wireproof.lint.rule import Broken, Recipe
from wireproof.lint.tables import Sysctl, folders, listed, sysctls

__all__ = ["SysctlSetting", "check", "judge_setting", "setting_of", "split_name"]

ASSIGNMENT = re.compile(r"(?P<lead>\s*-?\s*)(?P<name>[^\s=#;]+)\s*=\s*(?P<value>.*?)\s*$")
WRITTEN = re.compile(r"\s*(?:sudo\s+)?(?:/\S*/)?sysctl\s+(?:-\S+\s+)*(?P<rest>\S.*)$")
SIZE = re.compile(r"([0-9]{1,12})\s?([kKmMgG])(?:i?[bB])?$")
UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
INT_MAX = 2**31 - 1
BYTES = re.compile(
    r"net\.core\.[rw]mem_(?:max|default)$|net\.core\.optmem_max$|net\.ipv4\.(?:tcp_[rw]?mem"
    r"|udp_mem)$"
)


@dataclass(frozen=True, slots=True)
class SysctlSetting:
    """``name`` = ``value`` with the offsets of both in the line's text."""

    line: WrittenLine
    name: str
    value: str
    name_at: int
    value_at: int

    def with_value(self, value: str) -> str:
        """The line's text with another value."""
        end = self.value_at + len(self.value)
        return self.line.text[: self.value_at] + value + self.line.text[end:]


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the settings of ``recipe``."""
    for fragment in fragments(recipe, "sysctl"):
        settings: dict[str, SysctlSetting] = {}
        for line in fragment.lines:
            if not line.text.strip() or line.text.lstrip()[0] in "#;":
                continue
            setting = setting_of(line)
            if setting is None:
                yield from no_setting(line)
                continue
            yield from judge_setting(setting)
            earlier = settings.get(setting.name)
            if earlier and words(earlier.value) != words(setting.value) and not fragment.quoted:
                seen = (
                    f"{setting.name} is {earlier.value} on line {earlier.line.number}, then "
                    f"{setting.value}"
                )
                yield at("sysctl-twice", line, setting.name_at, seen)
            settings[setting.name] = setting
        yield from below(settings)


def setting_of(line: WrittenLine) -> SysctlSetting | None:
    """The setting of one line, None when it is none."""
    found = ASSIGNMENT.match(line.text)
    if not found:
        return None
    name = found["name"].replace("/", ".") if "." not in found["name"] else found["name"]
    return SysctlSetting(line, name, found["value"], found.start("name"), found.start("value"))


def no_setting(line: WrittenLine) -> Iterator[Broken]:
    """A command, or a name without ``=``."""
    command = WRITTEN.match(line.text)
    pair = re.match(r"\s*((?:net|vm)\.[\w.]+)(?:\s*:\s*|\s+)([\w ]{1,60})$", line.text)
    if command:
        yield at("sysctl-not-a-setting", line, 0, line.text.strip(), command["rest"].strip("\"'"))
    elif pair:
        yield at(
            "sysctl-not-a-setting", line, 0, line.text.strip(), f"{pair[1]} = {pair[2].strip()}"
        )


def judge_setting(setting: SysctlSetting) -> Iterator[Broken]:
    """One setting alone; also used for ``sysctl -w``."""
    command = WRITTEN.match(setting.line.text)
    if command and not setting.line.before and setting.name == "sysctl":
        yield at(
            "sysctl-not-a-setting",
            setting.line,
            0,
            setting.line.text.strip(),
            command["rest"].strip("\"'"),
        )
        return
    directory, name = split_name(setting.name)
    if name not in folders().get(directory, (name,)):
        yield from unknown(setting, directory, name)
        return
    removed = row_of(setting).removed
    if removed:
        yield at(
            "sysctl-removed",
            setting.line,
            setting.name_at,
            f"{setting.name}: {removed}",
        )
        return
    yield from judge_value(setting)


def row_of(setting: SysctlSetting) -> Sysctl:
    """What is known of the setting."""
    return sysctls().get(setting.name) or Sysctl(name=setting.name)


def split_name(name: str) -> tuple[str, str]:
    """(directory, file) of a dotted name."""
    directory, _, leaf = name.rpartition(".")
    return directory, leaf


def unknown(setting: SysctlSetting, directory: str, name: str) -> Iterator[Broken]:
    """A name that resembles one that exists, there or in the neighbouring directory."""
    elsewhere = next(
        (other for other, names in folders().items() if other != directory and name in names), None
    )
    meant = f"{elsewhere}.{name}" if elsewhere else nearest(name, folders()[directory])
    if meant:
        full = meant if elsewhere else f"{directory}.{meant}"
        start = setting.name_at
        fixed = setting.line.text[:start] + full + setting.line.text[start + len(setting.name) :]
        yield at(
            "sysctl-unknown-name", setting.line, start, f"{setting.name}; nearest is {full}", fixed
        )


def judge_value(setting: SysctlSetting) -> Iterator[Broken]:
    """The value's form, then its range; what a script fills in is not judged."""
    if re.search(r"[$`<]", setting.value):
        return
    comment = re.search(r"\s[#;]", setting.value)
    if comment:
        start = setting.value_at + comment.start()
        rest = setting.line.text[start:].strip().lstrip("#; ")
        fixed = f"# {rest}\n{setting.line.text[:start].rstrip()}"
        yield at("sysctl-comment-after-value", setting.line, start + 1, setting.value, fixed)
        return
    plain = plain_value(setting)
    if plain != setting.value:
        fixed = setting.with_value(plain)
        yield at(
            "sysctl-value-form",
            setting.line,
            setting.value_at,
            f"{setting.name} = {setting.value}",
            fixed,
        )
    form = row_of(setting).form
    if form == "triple":
        yield from triple(setting, words(plain))
    elif form == "integer":
        yield from number(setting, plain)
    elif setting.name == "net.ipv4.tcp_congestion_control":
        meant = nearest(plain, listed("congestion-controls"), 0.75)
        if meant:
            fixed = setting.with_value(meant)
            yield at(
                "sysctl-value-range",
                setting.line,
                setting.value_at,
                f"{plain}; nearest is {meant}",
                fixed,
            )


def plain_value(setting: SysctlSetting) -> str:
    """The value as the kernel would take it: no quotes, no commas between numbers, no unit
    letters.
    """
    form = row_of(setting).form
    if not form:
        return setting.value
    bare = setting.value
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'" and not setting.line.before:
        bare = bare[1:-1].strip()
    if form == "triple":
        bare = re.sub(r"(?<=[0-9a-zA-Z]),\s?(?=[0-9])", " ", bare)
    if BYTES.match(setting.name) and not setting.name.endswith(("tcp_mem", "udp_mem")):
        bare = " ".join(in_bytes(word) for word in bare.split()) if SIZE.search(bare) else bare
    return bare


def in_bytes(word: str) -> str:
    """``16M`` as 16777216; other words as they are."""
    size = SIZE.fullmatch(word)
    return str(int(size.group(1)) * UNITS[size.group(2).lower()]) if size else word


def triple(setting: SysctlSetting, parts: list[str]) -> Iterator[Broken]:
    """Three numbers that do not fall."""
    seen = f"{setting.name} = {setting.value}"
    if "$" in setting.value:
        return
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        yield at("sysctl-three-values", setting.line, setting.value_at, seen)
        return
    low, middle, high = (int(part[:20]) for part in parts)
    if not low <= middle <= high:
        ordered = " ".join(str(value) for value in sorted((low, middle, high)))
        yield at(
            "sysctl-three-values", setting.line, setting.value_at, seen, setting.with_value(ordered)
        )
    elif high > INT_MAX and setting.name.endswith(("tcp_rmem", "tcp_wmem")):
        seen = f"{high} is above {INT_MAX}"
        yield at("sysctl-value-range", setting.line, setting.value_at, seen, None)


def number(setting: SysctlSetting, plain: str) -> Iterator[Broken]:
    """One whole number within its range."""
    if not re.fullmatch(r"-?[0-9]{1,20}|0x[0-9a-fA-F]{1,16}", plain):
        if "$" not in plain and plain == setting.value:
            yield at(
                "sysctl-value-range",
                setting.line,
                setting.value_at,
                f"{setting.name} = {setting.value}",
            )
        return
    value = int(plain, 16 if plain.startswith("0x") else 10)
    low, high = row_of(setting).low, row_of(setting).high
    if not low <= value <= high and not setting.name.startswith("vm.nr_"):
        seen = f"{setting.name} = {value}; it takes {low} to {high}"
        yield at("sysctl-value-range", setting.line, setting.value_at, seen)
    elif (setting.name, value) == ("net.ipv4.tcp_window_scaling", 0):
        seen = (
            "net.ipv4.tcp_window_scaling = 0 holds each connection to 65535 bytes per round trip: "
            "0.66 GB/s at 100 us"
        )
        yield at(
            "sysctl-value-range", setting.line, setting.value_at, seen, setting.with_value("1")
        )


def below(settings: dict[str, SysctlSetting]) -> Iterator[Broken]:
    """net.core.rmem_max against tcp_rmem, and the same for wmem."""
    for letter in "rw":
        ceiling, window = (
            settings.get(f"net.core.{letter}mem_max"),
            settings.get(f"net.ipv4.tcp_{letter}mem"),
        )
        if not ceiling or not window or not re.fullmatch(r"[0-9]{1,12}", ceiling.value):
            continue
        high = words(window.value)[-1:]
        if high and re.fullmatch(r"[0-9]{1,12}", high[0]) and int(ceiling.value) < int(high[0]):
            seen = f"{ceiling.name} = {ceiling.value} < {high[0]} of {window.name}"
            fixed = ceiling.with_value(high[0])
            yield at("sysctl-maximum-below", ceiling.line, ceiling.value_at, seen, fixed)


def words(value: str) -> list[str]:
    """The value's words."""
    return value.split()
