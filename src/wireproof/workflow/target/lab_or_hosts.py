"""Whether host names mean nodes of a virtual cluster or real hosts: said by the user, or by what
exists.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
import time
from typing import TYPE_CHECKING

from wireproof.files.programs import by_path
from wireproof.model.errors import BadInput

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab

__all__ = ["lab_of", "real_host"]

ASK_S = 2.0


def lab_of(hosts: tuple[str, ...], name: str | None, launcher: str = "") -> Lab | None:
    """The lab named; else the one lab that has all these hosts as nodes, unless ``launcher`` says
    how to reach them.

    Raises ``BadInput`` when the names are nodes of a lab and of real hosts too: what is measured is
    never a guess.
    """
    from wireproof.lab.cluster import open_lab
    from wireproof.lab.status import find_labs

    if name:
        return open_lab(name)
    if launcher:
        return None
    # Seen from inside a node the lab around us looks crashed: its supervisor is in another pid
    # namespace.
    labs = [one for one in find_labs() if one.state in ("up", "degraded")]
    having = [one.name for one in labs if one.topology and set(hosts) <= set(one.topology.nodes)]
    if len(having) > 1:
        raise BadInput(f"the labs {', '.join(having)} all have these nodes: say which with --lab.")
    if having and (real := real_host(hosts)):
        raise BadInput(
            f"{real} is a node of lab {having[0]} and a real host too: say which is meant, with"
            f" --lab {having[0]} or --launcher ssh."
        )
    return open_lab(having[0]) if having else None


def real_host(hosts: tuple[str, ...]) -> str:
    """The first of these names that this machine knows an address or an ssh configuration for; ""
    when none has.
    """
    asked, known = hosts[:4], dict[str, bool]()

    def ask(host: str) -> None:
        known[host] = _has_address(host)

    # A name server that does not answer must hold up neither the check nor our end.
    threads = [threading.Thread(target=ask, args=(host,), daemon=True) for host in asked]
    for thread in threads:
        thread.start()
    until = time.monotonic() + ASK_S
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return next((host for host in asked if known.get(host) or _configured(host)), "")


def _has_address(host: str) -> bool:
    with contextlib.suppress(OSError, UnicodeError):
        return bool(socket.getaddrinfo(host, None))
    return False


def _configured(host: str) -> bool:
    """ssh would go to another name than the one given: somebody has written that down."""
    try:
        done = subprocess.run(
            **by_path(["ssh", "-G", host]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    target = next((line.split(" ", 1)[1] for line in lines if line.startswith("hostname ")), host)
    return target.lower() != host.lower()
