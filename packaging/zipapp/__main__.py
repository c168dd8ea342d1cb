"""wireproof in one file: unpacks itself into a folder of the user's once, and starts from there.

    python3 wireproof.pyz check --transport model

The folder is $WIREPROOF_PYZ_DIR, or wireproof in $XDG_CACHE_HOME or ~/.cache. Nothing is fetched,
compiled or written elsewhere. This file has no syntax later than Python 3.6, to be able to
say which Python is needed.
"""

import json
import os
import platform
import shutil
import sys
import zipfile

AGAIN = "WIREPROOF_PYZ_AGAIN"


def refuse(text):  # type: ignore[no-untyped-def]
    sys.stderr.write("wireproof: " + text + "\n")
    sys.exit(4)


def check(manifest):  # type: ignore[no-untyped-def]
    """Ends with a sentence, or goes on in the Python that the wheels are for."""
    machine = manifest["machine"]
    if platform.system() != "Linux" or platform.machine() != machine:
        here = f"{platform.system()} on {platform.machine()}"
        refuse(f"this file is for Linux on {machine}; here is {here}.")
    name, libc = platform.libc_ver()
    found = [int(part) for part in libc.split(".")[:2] if part.isdigit()]
    if name != "glibc" or found < manifest["glibc"]:
        least = ".".join(map(str, manifest["glibc"]))
        refuse(f"this file needs glibc {least}; here is {name or 'another'} {libc}.")
    if list(sys.version_info[:2]) != manifest["python"]:
        wanted = "python" + ".".join(map(str, manifest["python"]))
        other = shutil.which(wanted)
        if other is None or AGAIN in os.environ:
            refuse(f"this file needs {wanted}; Python {platform.python_version()} started it.")
        os.environ[AGAIN] = "1"
        os.execv(other, [other, *sys.argv])


def main():  # type: ignore[no-untyped-def]
    path = os.path.abspath(sys.argv[0])
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json").decode("utf-8"))
        check(manifest)
        os.environ.pop(AGAIN, None)
        import unpack  # only now: it is written for the Python that is needed

        unpack.start(archive, manifest, sys.argv[1:])


if __name__ == "__main__":
    main()
