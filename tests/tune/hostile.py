"""A machine whose kernel is `tests.tune.hostile_kernel`."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.tune.node import BOOT, Machine, end_timers, wait_until

PROGRAM = Path(__file__).with_name("hostile_kernel.py")


class Hostile(Machine):
    """``knobs``: path to ``text`` and what it does: ``on`` (hang, hang-reading, refuse, ignore,
    vanish, read-only), ``refuse`` (values), ``form`` (how it reads back), ``clears`` (other files
    that become 0).
    """

    def __init__(
        self, root: Path, knobs: Mapping[str, Mapping[str, Any]], files: Mapping[str, str]
    ) -> None:
        root.mkdir()
        super().__init__(root, {})
        self.server = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        files = {BOOT: "0d1e\n", **files}
        self._say(
            {
                "files": {f"/{path}": text for path, text in files.items()},
                "knobs": {f"/{path}": dict(knob) for path, knob in knobs.items()},
            }
        )
        wait_until(lambda: root.is_mount() or self.server.poll() is not None)
        assert root.is_mount(), self.server.communicate()[1]

    def _say(self, message: Mapping[str, Any]) -> None:
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()

    def order(self, **order: Any) -> int:
        """What the kernel is to do next; how many steps it has counted."""
        self._say(order)
        return int(json.loads(self.server.stdout.readline())["steps"])

    def knob(self, path: str, **knob: Any) -> None:
        self.order(knobs={f"/{path}": knob})

    def close(self) -> None:
        end_timers(self.root)
        self.order(release=True)
        subprocess.run(["umount", "--lazy", str(self.root)], check=True)
        try:
            self.server.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.communicate()
            raise
