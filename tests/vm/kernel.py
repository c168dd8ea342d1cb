"""A kernel of Debian's and an initramfs with the modules of soft-RoCE, made once and kept below
``build/vm``.
"""

import fcntl
import lzma
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "vm"
INIT = Path(__file__).with_name("init")
PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "cpio": "cpio",
    "depmod": "kmod",
    "modprobe": "kmod",
    "rdma": "iproute2",
    "ib_write_bw": "perftest",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
    "setpriv": "util-linux",
    "timeout": "coreutils",
}
DRIVER = Path("/etc/libibverbs.d/rxe.driver")
MODULES = ("virtio_pci", "virtio_net", "9p", "9pnet_virtio", "rdma_rxe", "ib_uverbs", "rdma_ucm")
CHECKSUM = "crc32_generic"
"""rxe asks the crypto layer for it by name, so that no dependency leads to it; newer kernels have
it built in.
"""
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def missing() -> str | None:
    """What this machine lacks for virtual machines with soft-RoCE, in a sentence; nothing when it
    has all.
    """
    for program, package in PROGRAMS.items():
        if not shutil.which(program, path=PATH):
            return f"{program} is not here (Debian package {package})"
    if not DRIVER.exists():
        return f"{DRIVER} is not here (Debian package ibverbs-providers)"
    if not Path("/bin/busybox").exists():
        return "/bin/busybox is not here (Debian package busybox-static)"
    if not (CACHE / "release").exists() and not _newest():
        return "the package lists name no linux-image-amd64: run apt-get update"
    return None


def _run(
    *argv: object, cwd: Path | None = None, seconds: float = 120, text: bytes | None = None
) -> str:
    done = subprocess.run(
        [str(word) for word in argv],
        cwd=cwd,
        input=text,
        capture_output=True,
        timeout=seconds,
        check=False,
        env={"PATH": PATH, "LC_ALL": "C"},
    )
    if done.returncode:
        raise RuntimeError(
            f"{argv[0]} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}"
        )
    return done.stdout.decode(errors="replace")


def _newest() -> str:
    """The package that linux-image-amd64 stands for, such as linux-image-6.1.0-56-amd64."""
    try:
        said = _run("apt-cache", "depends", "linux-image-amd64", seconds=30)
    except RuntimeError:
        return ""
    named = (line.split()[-1] for line in said.splitlines() if "Depends:" in line)
    return next((name for name in named if name.startswith("linux-image-")), "")


def _with_needs(tree: Path, release: str, module: str) -> list[Path]:
    """The module's file behind those that it needs, in the order in which they are loaded."""
    said = _run("modprobe", "-d", tree, "-S", release, "--show-depends", module)
    return [Path(line.split()[1]) for line in said.splitlines() if line.startswith("insmod ")]


def _in_order(tree: Path, release: str) -> list[Path]:
    wanted = list(MODULES)
    if list((tree / "lib/modules" / release).rglob(f"{CHECKSUM}.ko*")):
        wanted.insert(0, CHECKSUM)
    return list(
        dict.fromkeys(file for module in wanted for file in _with_needs(tree, release, module))
    )


def _lay(root: Path, modules: list[Path]) -> None:
    """What the machine has in memory until it reaches the files of this one."""
    for folder in ("bin", "proc", "sys", "dev", "modules", "new"):
        (root / folder).mkdir()
    shutil.copy("/bin/busybox", root / "bin/busybox")
    shutil.copy(INIT, root / "init")
    (root / "init").chmod(0o755)
    names = []
    for file in modules:
        names.append(file.name.removesuffix(".xz"))
        data = file.read_bytes()
        (root / "modules" / names[-1]).write_bytes(
            lzma.decompress(data) if file.suffix == ".xz" else data
        )
    (root / "modules/order").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def _pack(root: Path, archive: Path) -> None:
    names = b"".join(bytes(path.relative_to(root)) + b"\n" for path in sorted(root.rglob("*")))
    _run("cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0", "-F", archive, cwd=root, text=names)


def _download(folder: Path) -> None:
    """The newest kernel that the package lists have: downloaded and unpacked, never installed."""
    package = _newest()
    if not package:
        raise RuntimeError("the package lists name no linux-image-amd64: run apt-get update")
    words = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download"]
    _run(*words, package, cwd=folder, seconds=300)
    (deb,) = folder.glob("linux-image-*.deb")
    _run("dpkg-deb", "-x", deb, folder / "tree", seconds=300)


def _make(folder: Path) -> None:
    tree = folder / "tree"
    _download(folder)
    release = next((tree / "lib/modules").iterdir()).name
    _run("depmod", "-b", tree, release)
    (folder / "initramfs").mkdir()
    _lay(folder / "initramfs", _in_order(tree, release))
    _pack(folder / "initramfs", CACHE / "initramfs.cpio")
    shutil.copy(tree / "boot" / f"vmlinuz-{release}", CACHE / "vmlinuz")
    (CACHE / "release").write_text(
        f"{release}\n{INIT.read_text(encoding='utf-8')}", encoding="utf-8"
    )


def fetch() -> tuple[Path, Path, str]:
    """(kernel, initramfs, release), made now if they are not there or our init has changed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = CACHE / "release"
        init = INIT.read_text(encoding="utf-8")
        if not made.exists() or made.read_text(encoding="utf-8").partition("\n")[2] != init:
            with tempfile.TemporaryDirectory(dir=CACHE) as folder:
                _make(Path(folder))
        release = made.read_text(encoding="utf-8").splitlines()[0]
        return CACHE / "vmlinuz", CACHE / "initramfs.cpio", release
