"""Options that say how the management controllers of hosts are reached."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import click

from wireproof.cli.declare import file, flag, text

if TYPE_CHECKING:
    from wireproof.settings.bmc import BmcOptions

__all__ = ["BMC", "bmc_options"]

BMC: tuple[click.Parameter, ...] = (
    text(
        "--bmc",
        "FILE.toml|NAME",
        "read the BIOS by Redfish: a TOML file of BMCs, an address, or a pattern: {host}-bmc.",
        multiple=True,
        default=(),
    ),
    text("--bmc-user", "NAME", "user of the BMC, where the file has none."),
    file("--bmc-password-file", "its password: a file of mode 600; else it is asked for."),
    file("--bmc-ca", "certificates (PEM) to trust for the BMC, in place of the system's."),
    flag(
        "--bmc-insecure", "take any certificate of the BMC: who is between can read the password."
    ),
)


def bmc_options(options: dict[str, Any]) -> BmcOptions:
    """What ``BMC`` was given. A password is asked for where there is a terminal."""
    from wireproof.settings.bmc import BmcOptions

    return BmcOptions(
        sources=options["bmc"],
        user=options["bmc_user"],
        password_file=options["bmc_password_file"],
        ca=options["bmc_ca"],
        insecure=options["bmc_insecure"],
        ask=_ask if sys.stdin.isatty() else None,
    )


@functools.cache
def _ask(user: str) -> str:
    return str(click.prompt(f"Password of {user!r} at the BMC", hide_input=True, err=True))
