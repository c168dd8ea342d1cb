"""Damage to JSON values: a key gone, another type, a number that nobody measures, a text that
nobody should show.
"""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

NUMBERS: list[Any] = [
    0,
    -1,
    1,
    2,
    3,
    1 << 31,
    1 << 63,
    (1 << 63) - 1,
    (1 << 64) - 1,
    1 << 64,
    -(1 << 63),
    10**30,
    10**6,
    1e308,
    -1e308,
    5e-324,
    1e-300,
    1e-7,
    0.5,
    1e18,
    1e21,
    1e22,
    -0.0,
    2.5e9,
    1e15,
]
HOSTILE_TEXTS = [
    *(
        "",
        "\x1b]0;title\x07",
        "\u202eevil",
        "</script><script>alert(1)</script>",
        "a" * 5000,
        "../../../etc/passwd",
    ),
    *(
        *("%s%n", "n[1-999999]", "\u0000", "net/hsn0/tx_bytes", "rdma/mlx5_0/1/port_xmit_data"),
        *("rdma///", "net/", "/", "-o"),
    ),
    *(
        "\ud800",
        "nan",
        "1e999",
        "\u2028",
        "٣",
        "hsn0" * 200,
        "'; DROP TABLE x",
        "{}",
        "\r\n\r\n",
        "eth0:9999999999",
    ),
]
_TYPES: list[Any] = [None, True, [], {}, "x", 0, [[]], {"a": 1}, [0, 0], 1.5]
_RAW = [
    ("1e999",),
    ("NaN",),
    ("-Infinity",),
    ("9" * 5000,),
    ("[" * 5000,),
    ('"\\ud800"',),
    ("1" + "0" * 400,),
]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _paths(one, (*path, key))
    elif isinstance(value, list):
        for index in (*range(min(len(value), 3)), *([len(value) - 1] if len(value) > 3 else [])):
            yield from _paths(value[index], (*path, index))


def changed(choice: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    """A copy with one change somewhere inside."""
    value = copy.deepcopy(value)
    paths = list(_paths(value))
    if not paths:
        return value
    *way, last = choice.choice(paths)
    inside: Any = value
    for step in way:
        inside = inside[step]
    old = inside[last]
    kind = choice.random()
    if kind < 0.08:
        del inside[last]
    elif kind < 0.16:
        inside[last] = copy.deepcopy(choice.choice(_TYPES))
    elif isinstance(old, bool):
        inside[last] = not old
    elif isinstance(old, int | float):
        inside[last] = (
            choice.choice(NUMBERS)
            if kind < 0.7
            else old * choice.choice((0.1, 2, 3, 1000, -1, 1 << 20))
        )
    elif isinstance(old, str):
        inside[last] = choice.choice(HOSTILE_TEXTS)
    elif isinstance(old, list):
        _list(choice, old)
    elif isinstance(old, dict):
        _dict(choice, old)
    return value


def _list(choice: random.Random, value: list[Any]) -> None:
    kind = choice.randrange(4)
    if not value or kind == 0:
        value.clear()
    elif kind == 1:
        value.extend(copy.deepcopy(value[: choice.choice((1, 2, 50))]))
    elif kind == 2:
        value.pop(choice.randrange(len(value)))
    else:
        choice.shuffle(value)


def _dict(choice: random.Random, value: dict[Any, Any]) -> None:
    if not value:
        return
    key = choice.choice(list(value))
    if choice.random() < 0.5:
        value[choice.choice(HOSTILE_TEXTS)] = value.pop(key)
    else:
        value[choice.choice(HOSTILE_TEXTS)] = copy.deepcopy(value[key])


def text_of(choice: random.Random, value: Any) -> bytes:
    """One line of JSON; now and then with a number or a nesting that Python would not write."""
    text = json.dumps(value)
    if choice.random() < 0.02:
        places = [index for index, letter in enumerate(text) if letter == ":"]
        if places:
            at = choice.choice(places) + 1
            end = min(
                (i for i in (text.find(",", at), text.find("}", at)) if i >= 0), default=len(text)
            )
            text = text[:at] + choice.choice(_RAW)[0] + text[end:]
    return text.encode("utf-8", "surrogatepass")
