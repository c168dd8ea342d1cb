"""Rules of sysctl.d files."""

from __future__ import annotations

from wireproof.lint.rule import Kind, Rule

__all__ = ["KINDS", "RULES"]

KINDS: tuple[Kind, ...] = ("sysctl", "script", "unknown")
DOCUMENT = "Linux Documentation/networking/ip-sysctl and Documentation/admin-guide/sysctl"
MAN = "sysctl.d(5), sysctl.conf(5)"

RULES = (
    Rule(
        "sysctl-unknown-name",
        "The kernel has no setting of this name.",
        "sysctl says 'cannot stat' or 'unknown key' at boot and nothing is set.",
        "a name that exists below /proc/sys",
        DOCUMENT,
        KINDS,
    ),
    Rule(
        "sysctl-three-values",
        "This setting takes three ascending numbers: minimum, default, maximum.",
        "The kernel refuses the write or takes a window that is not the one that was meant.",
        "net.ipv4.tcp_rmem = 4096 131072 16777216",
        DOCUMENT,
        KINDS,
    ),
    Rule(
        "sysctl-value-form",
        "The value is not a plain number.",
        "The kernel takes no quotes, commas or unit letters: it answers 'Invalid argument' and keeps the old value.",
        "net.core.rmem_max = 16777216",
        DOCUMENT,
        KINDS,
        safe=True,
    ),
    Rule(
        "sysctl-value-range",
        "The value is outside what the setting takes.",
        "The kernel answers 'Invalid argument' and keeps the old value, or TCP is crippled.",
        "a value within the documented range",
        DOCUMENT,
        KINDS,
    ),
    Rule(
        "sysctl-maximum-below",
        "net.core.*mem_max is below the maximum of net.ipv4.tcp_*mem in the same file.",
        "Programs that set their own buffers (iperf3 -w, qperf) are held to net.core.*mem_max, and measure less than "
        "TCP's own tuning would reach.",
        "net.core.rmem_max at least the third number of net.ipv4.tcp_rmem",
        "tcp(7), socket(7) SO_RCVBUF",
        KINDS,
        severity="warning",
    ),
    Rule(
        "sysctl-removed",
        "The kernel no longer obeys this setting.",
        "It does nothing, or is an error at each boot.",
        "leave the line out",
        DOCUMENT,
        KINDS,
        severity="warning",
    ),
    Rule(
        "sysctl-comment-after-value",
        "A comment stands behind the value.",
        "Comments are lines of their own: here the text becomes part of the value.",
        "the comment on a line above",
        MAN,
        KINDS,
        severity="warning",
        safe=True,
    ),
    Rule(
        "sysctl-twice",
        "One setting is given two values.",
        "The last one wins, whatever the first one says.",
        "each setting once",
        MAN,
        KINDS,
    ),
    Rule(
        "sysctl-not-a-setting",
        "The line is no name = value.",
        "sysctl skips it, and nothing is set.",
        "net.core.rmem_max = 16777216, without 'sysctl -w' and with '='",
        MAN,
        KINDS,
        safe=True,
    ),
)
