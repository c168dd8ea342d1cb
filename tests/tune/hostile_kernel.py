"""A kernel that does what it likes: a file system (FUSE) whose files are settings.

``python hostile_kernel.py MOUNTPOINT``: the first line on standard input is the specification, each
further one an order; each order is answered by one line. `tests.tune.hostile` is the other side.
"""

import copy
import errno
import json
import os
import signal
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import mfusepy

Order = dict[str, Any]
CHANGING = (os.O_WRONLY, os.O_RDWR)
CHOICES = ("always", "madvise", "never")
FORMS = {
    "": lambda word: word,
    "hex": lambda word: f"{int(word, 0):#x}",
    "tabs": lambda word: "\t".join(word.split()),
    "flag": lambda word: {"1": "Y", "0": "N"}.get(word, word),
    "mask": lambda word: f"00000000,{int(word.replace(',', ''), 16):08x}",
    "bracket": lambda word: " ".join(f"[{one}]" if one == word else one for one in CHOICES),
    "round": lambda word: str(1 << (int(word) - 1).bit_length()),
}
"""How a value that was written reads back."""


class Node:
    """A file. ``knob`` says what kind of setting it is; None: a file as on a disk."""

    def __init__(self, text: str, knob: dict[str, Any] | None = None) -> None:
        self.text = bytearray(text.encode())
        self.knob = knob
        self.mode = 0o644
        self.owner = (os.geteuid(), os.getegid())
        self.gone = False

    def does(self, what: str) -> bool:
        return self.knob is not None and what in self.knob.get("on", ())


class Kernel:
    """The files. Every step that changes something is counted, and at the chosen one the program
    that made it is killed.
    """

    def __init__(self, specification: Order) -> None:
        self.folders = {"/": 0o755}
        self.files: dict[str, Node] = {}
        self.steps = 0
        self.kill_at = -1
        self.tear = False
        self.released = threading.Event()
        for path, text in specification["files"].items():
            self._add(path, Node(text))
        for path, knob in specification["knobs"].items():
            self._add(path, Node(knob["text"], knob))
        self.first = copy.deepcopy((self.folders, self.files))

    def _add(self, path: str, node: Node) -> None:
        folder = path.rsplit("/", 1)[0]
        while folder and folder not in self.folders:
            self.folders[folder] = 0o755
            folder = folder.rsplit("/", 1)[0]
        self.files[path] = node

    def find(self, path: str) -> Node:
        node = self.files.get(path)
        if node is None or node.gone:
            raise OSError(errno.ENOENT, path)
        return node

    def step(self) -> None:
        """After a change: the chosen one is the last that the program does."""
        self.steps += 1
        if self.steps == self.kill_at:
            os.kill(_program(int(mfusepy.fuse_get_context()[2])), signal.SIGKILL)

    def obey(self, order: Order) -> Order:
        """What the test asks for between two calls."""
        self.tear = order.get("tear", False)
        if "kill_at" in order:
            self.steps, self.kill_at = 0, order["kill_at"]
        if "reset" in order:
            self.folders, self.files = copy.deepcopy(self.first)
        if "release" in order:
            self.released.set()
        for path, knob in order.get("knobs", {}).items():
            self.files[path].knob = knob
            self.files[path].gone = False
        return {"steps": self.steps}

    def write_knob(self, node: Node, data: bytes) -> None:
        """One write(2) of a value."""
        knob = node.knob or {}
        value = data.decode().strip()
        if node.does("hang"):
            self.released.wait()
        if value in knob.get("refuse", ()) or node.does("refuse"):
            raise OSError(errno.EINVAL, value)
        if node.does("vanish"):
            node.gone = True
        elif not node.does("ignore"):
            node.text[:] = (FORMS[knob.get("form", "")](value) + "\n").encode()
            for other in knob.get("clears", ()):
                self.files[other].text[:] = b"0\n"


def _program(pid: int) -> int:
    """The tune that a process works for: a read or a write is done by a child of it."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    parent = Path(f"/proc/{fields[1]}")
    child = (parent / "comm").read_text(encoding="utf-8").strip() == "wireproof-node"
    return int(parent.name) if child else pid


class Files(mfusepy.Operations):
    """What the mount point shows."""

    use_ns = True

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        if path in self.kernel.folders:
            return {"st_mode": stat.S_IFDIR | self.kernel.folders[path], "st_nlink": 2}
        node = self.kernel.find(path)
        user, group = node.owner
        return {
            "st_mode": stat.S_IFREG | node.mode,
            "st_nlink": 1,
            "st_size": len(node.text),
            "st_uid": user,
            "st_gid": group,
        }

    def readdir(self, path: str, fh: int) -> list[str]:
        prefix = path.rstrip("/") + "/"
        everything = [*self.kernel.files, *self.kernel.folders]
        names = {name[len(prefix) :] for name in everything if name.startswith(prefix)}
        return [".", "..", *(name for name in sorted(names) if name and "/" not in name)]

    def open(self, path: str, flags: int) -> int:
        node = self.kernel.find(path)
        if flags & os.O_ACCMODE in CHANGING and node.does("read-only"):
            raise OSError(errno.EROFS, path)
        return 1 if flags & os.O_APPEND else 0

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        node = self.kernel.find(path)
        if node.does("hang-reading"):
            self.kernel.released.wait()
        return bytes(node.text[offset : offset + size])

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        node = self.kernel.find(path)
        torn = self.kernel.tear and self.kernel.steps + 1 == self.kernel.kill_at
        if node.knob is not None:
            self.kernel.write_knob(node, data)
        elif torn:  # half of it reaches the disk
            node.text += data[: len(data) // 2]
        elif fh == 1:
            node.text += data
        else:
            node.text[offset : offset + len(data)] = data
        self.kernel.step()
        return len(data)

    def truncate(self, path: str, length: int, fh: int | None = None) -> None:
        node = self.kernel.find(path)
        if node.knob is None:
            del node.text[length:]
            self.kernel.step()

    def create(self, path: str, mode: int, fi: Any = None) -> int:
        self.kernel.files[path] = Node("")
        self.kernel.files[path].mode = mode & 0o7777
        self.kernel.step()
        return 0

    def mkdir(self, path: str, mode: int) -> None:
        if path in self.kernel.folders:
            raise OSError(errno.EEXIST, path)
        self.kernel.folders[path] = mode & 0o7777
        self.kernel.step()

    def unlink(self, path: str) -> None:
        self.kernel.find(path)
        del self.kernel.files[path]
        self.kernel.step()

    def rmdir(self, path: str) -> None:
        if any(name.startswith(path + "/") for name in self.kernel.files):
            raise OSError(errno.ENOTEMPTY, path)
        del self.kernel.folders[path]
        self.kernel.step()

    def rename(self, old: str, new: str, flags: int = 0) -> None:
        self.kernel.files[new] = self.kernel.files.pop(old)
        self.kernel.step()

    def fsync(self, path: str, datasync: int, fh: int) -> None:
        self.kernel.step()

    def fsyncdir(self, path: str, datasync: int, fh: int) -> None:
        self.kernel.step()

    def chmod(self, path: str, mode: int) -> None:
        self.kernel.find(path).mode = mode & 0o7777
        self.kernel.step()

    def chown(self, path: str, uid: int, gid: int) -> None:
        self.kernel.find(path).owner = (uid, gid)
        self.kernel.step()


def _hear(kernel: Kernel) -> None:
    for line in sys.stdin:
        print(json.dumps(kernel.obey(json.loads(line))), flush=True)


def main() -> None:
    """Mount and serve until it is unmounted."""
    kernel = Kernel(json.loads(sys.stdin.readline()))
    threading.Thread(target=_hear, args=(kernel,), daemon=True).start()
    mfusepy.FUSE(
        Files(kernel), sys.argv[1], foreground=True, direct_io=True, attr_timeout=0, entry_timeout=0
    )


if __name__ == "__main__":
    main()
