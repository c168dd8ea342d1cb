"""Find which BMC manages which host, and how to reach it: from a TOML file or a name pattern."""

import ipaddress
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from wireproof.files.hostile import read_bounded, read_secret
from wireproof.model.errors import BadInput, reading
from wireproof.model.toml import LARGEST, read_struct
from wireproof.model.tuning import Bmc, Login, Secret
from wireproof.options.hosts import parse_hosts

_ADDRESS = re.compile(
    r"(?:(?P<scheme>https?)://)?(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}"
    r"[A-Za-z0-9])?))(?::(?P<port>[0-9]{1,5}))?/?",
    re.ASCII,
)
_FINGERPRINT = re.compile(r"(?:sha256:)?((?:[0-9a-f]{2}:?){31}[0-9a-f]{2})", re.ASCII)


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table ``[[bmc]]``. Without ``hosts`` it applies to all hosts."""

    address: str
    hosts: str = ""
    user: str = ""
    password_file: str = ""
    ca: str = ""
    fingerprint: str = ""
    system: str = ""
    login: Login = ""


class _BmcFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    bmc: list[_Entry]


@dataclass(frozen=True)
class BmcOptions:
    """``sources``: names of .toml files, addresses, or patterns with ``{host}``. Other fields apply
    if a file does not set them. ``ask``: prompts for a password; None if there is no terminal.
    """

    sources: Sequence[str] = ()
    user: str = ""
    password_file: Path | None = None
    ca: Path | None = None
    insecure: bool = False
    ask: Callable[[str], str] | None = None


def bmcs_of(options: BmcOptions, hosts: Sequence[str]) -> list[Bmc]:
    """Return the BMC of each of ``hosts`` that has one. Raise ``BadInput`` if a source cannot be
    used, a host has two BMCs, or no host has any.
    """
    entries = [entry for source in options.sources for entry in _entries(source, hosts)]
    secrets: dict[tuple[str, str], Secret] = {}
    bmcs: dict[str, Bmc] = {}
    for where, entry in entries:
        chosen = set(parse_hosts(entry.hosts)) if entry.hosts else set(hosts)
        for host in (host for host in hosts if host in chosen):
            if host in bmcs:
                raise BadInput(f"{where}: {host} already has a BMC: name each host once.")
            bmcs[host] = _bmc(where, entry, host, options, secrets)
    if options.sources and not bmcs:
        raise BadInput(f"{', '.join(options.sources)}: names no BMC for any of the hosts.")
    return list(bmcs.values())


def _entries(source: str, hosts: Sequence[str]) -> list[tuple[str, _Entry]]:
    if not source.endswith(".toml"):
        if "{host}" not in source and len(hosts) > 1:
            raise BadInput(
                f"--bmc {source!r} is one BMC for {len(hosts)} hosts: give {{host}}-bmc."
            )
        return [("--bmc", _Entry(address=source))]
    with reading(source):
        text = read_bounded(source, LARGEST).decode("utf-8")
    entries = read_struct(text, source, _BmcFile).bmc
    folder = Path(source).absolute().parent
    return [
        (f"{source}, bmc {number}", _placed(entry, folder))
        for number, entry in enumerate(entries, 1)
    ]


def _placed(entry: _Entry, folder: Path) -> _Entry:
    """Resolve the files that an entry names relative to the BMC file."""
    places = {
        name: str(folder / os.path.expanduser(getattr(entry, name)))
        for name in ("password_file", "ca")
        if getattr(entry, name)
    }
    return msgspec.structs.replace(entry, **places)


def _password(where: str, file: str, user: str, ask: Callable[[str], str] | None) -> str:
    if file:
        with reading(f"{where}: the password file {file}"):
            return read_secret(Path(file))
    if ask is None:
        raise BadInput(f"{where}: no password: give --bmc-password-file or use a terminal.")
    if text := ask(user):
        return text
    raise BadInput(f"{where}: the password is empty.")


def _bmc(
    where: str,
    entry: _Entry,
    host: str,
    options: BmcOptions,
    secrets: dict[tuple[str, str], Secret],
) -> Bmc:
    """``secrets``: passwords by file or user, each read or prompted for only once."""
    address, port, plain = _address(where, entry.address.replace("{host}", host), options)
    user = _user(where, entry.user or options.user)
    file = entry.password_file or str(options.password_file or "")
    key = (file, "" if file else user)
    if key not in secrets:
        secrets[key] = Secret(_password(where, *key, options.ask))
    return Bmc(
        host=host,
        address=address,
        port=port,
        plain=plain,
        user=user,
        password=secrets[key],
        authority=entry.ca or str(options.ca or ""),
        fingerprint=_fingerprint(where, entry.fingerprint),
        insecure=options.insecure,
        system=entry.system,
        login=entry.login,
    )


def _address(where: str, text: str, options: BmcOptions) -> tuple[str, int, bool]:
    """Return (name or IP address, port, whether it is without TLS)."""
    parts = _ADDRESS.fullmatch(text)
    if parts is None or not 0 < int(parts["port"] or 443) < 65536:
        raise BadInput(
            f"{where}: {text[:80]!r} is not the address of a BMC: give a name, an IP address or "
            "https://NAME:PORT; {host} stands for the host's name."
        )
    name = parts["v6"] or parts["name"]
    plain = parts["scheme"] == "http"
    if plain and not (options.insecure and _is_here(name)):
        raise BadInput(
            f"{where}: {text[:80]!r} has no TLS, so the password could be read on the "
            "network: give https://; without TLS only an address of this machine is allowed, "
            "with --bmc-insecure."
        )
    return name, int(parts["port"] or (80 if plain else 443)), plain


def _user(where: str, name: str) -> str:
    if not name:
        raise BadInput(f"{where}: no user: give --bmc-user.")
    if not name.isprintable() or ":" in name:  # HTTP Basic ends the user name at a colon
        raise BadInput(f"{where}: {name!r} is not a user name.")
    return name


def _is_here(address: str) -> bool:
    try:
        return address == "localhost" or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _fingerprint(where: str, text: str) -> str:
    digits = _FINGERPRINT.fullmatch(text.strip().lower())
    if text and digits is None:
        raise BadInput(f"{where}: {text[:80]!r} is not the SHA-256 fingerprint of a certificate.")
    return digits.group(1).replace(":", "") if digits else ""
