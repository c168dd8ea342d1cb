"""dnf's and yum's .repo files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.lint.files.nearest import listed, nearest
from wireproof.lint.files.pieces import Line, at, pieces
from wireproof.lint.rule import Broken, Recipe

__all__ = ["check"]


OPTIONS = listed(
    """name baseurl mirrorlist metalink enabled gpgcheck gpgkey repo_gpgcheck priority cost
    excludepkgs exclude includepkgs includepkg skip_if_unavailable metadata_expire sslverify
    sslcacert sslclientcert sslclientkey proxy username password type module_hotfixes countme
    failovermethod enablegroups keepcache timeout retries fastestmirror deltarpm proxy_username
    proxy_password ip_resolve bandwidth throttle minrate max_parallel_downloads user_agent
    mediaid enabled_metadata http_caching mdpolicy ui_repoid_vars autorefresh
    deltarpm_percentage"""
)
URL = re.compile(
    r"(?:https?|ftp|file)://[^\s<>\"']+$|/\S*$|(?:https?|ftp|file)://\$\S+$|\$\S+$|media:\S+$"
    r"|cdrom:\S+$"
)
PROPERTY = re.compile(r"\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$")
KEY = re.compile(r"\.(?:PUB|pub|asc|gpg|key)$|GPG-PUB-KEY|RPM-GPG-KEY")


def check(recipe: Recipe) -> Iterator[Broken]:
    """All that is wrong in the repositories of ``recipe``."""
    for piece in pieces(recipe, "repository"):
        sections: dict[str, set[str]] = {}
        heads: dict[str, Line] = {}
        current: set[str] | None = None
        for line in piece.lines:
            text = line.text.strip()
            head = re.fullmatch(r"\[([^\]]{1,200})\]", text)
            if head:
                if head.group(1) in sections and not piece.quoted:
                    yield at("repository-section", line, 0, f"[{head.group(1)}] stands twice")
                current = sections.setdefault(head.group(1), set())
                heads[head.group(1)] = line
                continue
            found = PROPERTY.match(line.text)
            if found and not text.startswith(("#", ";")):
                yield from option(line, found, piece.quoted)
                if current is not None:
                    current.add(found.group(1))
        for name, names in sections.items():
            if (
                name != "main"
                and not piece.quoted
                and not names & {"baseurl", "mirrorlist", "metalink"}
            ):
                yield at("repository-section", heads[name], 0, f"[{name}] has no baseurl")


def option(line: Line, found: re.Match[str], quoted: bool) -> Iterator[Broken]:
    """One ``name=value``; beside other text (``quoted``) it may be of another file, so its name is
    not judged.
    """
    name, value = found.groups()
    if name not in OPTIONS:
        meant = nearest(name.lower(), OPTIONS, 0.8) or (
            name.lower() if name.lower() in OPTIONS else None
        )
        if meant and not quoted:
            yield at(
                "repository-option", line, found.start(1), name, line.text.replace(name, meant, 1)
            )
        return
    if name in ("baseurl", "mirrorlist", "metalink", "gpgkey") and value:
        addresses = re.split(r"[\s,]+", value)
        wrong = next((address for address in addresses if not URL.match(address)), None)
        markup = re.search(r"(?:https?|ftp)://[^\s<>\"']+", value) if "<" in value else None
        placeholder = "<" in value and "href" not in value and "</" not in value
        if wrong is not None and not placeholder:
            fix = f"{line.text[: found.start(2)]}{markup.group()}" if markup else None
            yield at("repository-address", line, found.start(2), value[:160], fix)
        elif name == "baseurl" and KEY.search(value):
            yield at(
                "repository-address",
                line,
                found.start(2),
                f"{value[:160]} is a key, not a repository",
            )
