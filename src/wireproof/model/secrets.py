# pure
"""Secrets in texts of hosts: recognised by their form and masked before anything is stored.
Pure.
"""

import re

# --- Make the messages of launchers, libraries and ranks on standard error safe to print. Pure.

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[@-Z\\-_])")


def clean_text(data: bytes, limit: int = 400) -> str:
    """Return text that is safe to print: one line without terminal escapes and control characters,
    of bounded length.
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())[:limit]


MASK = "***"
_NAMES = (
    r"passw(?:or)?d|passphrase|pass|pwd|token|secret|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|credentials?|cookie"
)
_NAMED = re.compile(rf"(?i){_NAMES}")
"""Searched first, because most texts contain none of these words."""
_VALUE = r"\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&]+"
_START = r"(?:(?<![^\W_])|(?-i:(?<=[a-z])(?=[A-Z])))"
_ASSIGNED = re.compile(
    rf"(?i)({_START}(?:{_NAMES})(?![^\W_])[\w.-]{{0,64}}[\"']?"
    rf"[ \t]{{0,8}}[=:][ \t]{{0,8}})({_VALUE})"
)
"""``password=``, ``DB_TOKEN: ``, ``"secret": ``, ``StoragePass=``: the name is a separate word. All
repetitions are bounded, so that no text takes long to search.
"""
_OPTION = re.compile(rf"(?i)((?<![\w-])--?(?:[\w-]{{0,64}}-)?(?:{_NAMES})[ \t]{{1,8}})({_VALUE})")
_LOGIN = re.compile(
    r"((?:://|[=:\s]|^)[^\s:@/=,\"']{1,64}:)[^\s@/]{1,256}(?=@[\w\[])", re.MULTILINE
)
"""``user:password@host``, with or without a scheme."""
_KEY = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
_KNOWN = re.compile(
    r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|glpat-[\w-]{15,}"
    r"|xox[abprs]-[\w-]{10,}|eyJ[\w-]{8,512}\.[\w-]{8,512}\.[\w-]{4,512})"
)
"""Tokens with a prefix that their issuer defines."""


def masked(text: str) -> str:
    """Return ``text`` with ``***`` for everything that looks like a password, a token or a key.

    Secrets without a recognisable form are not found, so never read places that hold secrets.
    """
    text = _KEY.sub(rf"\1 {MASK} \2", text)
    if "@" in text:
        text = _LOGIN.sub(rf"\1{MASK}", text)
    if _NAMED.search(text):
        text = _ASSIGNED.sub(rf"\1{MASK}", text)
        text = _OPTION.sub(rf"\1{MASK}", text)
    return _KNOWN.sub(MASK, text)
