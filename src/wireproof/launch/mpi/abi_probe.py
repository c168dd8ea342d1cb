"""Ask an MPI library for its version and ABI without MPI_Init. Run it in a separate process:
``python -I abi_probe.py LIBRARY``.

A library may crash or print when it is loaded, and two MPIs must never be in the same process.
Prints a JSON object. The answer of ``MPI_Abi_get_version`` is valid only if the major version is
above 0: MPICH 5's legacy library exports the function and returns -1.
"""

import ctypes
import json
import sys


def main() -> None:
    library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    text = ctypes.create_string_buffer(1 << 16)
    length = ctypes.c_int(0)
    answer = {"version": "", "abi_major": 0, "abi_minor": 0}
    if hasattr(library, "MPI_Get_library_version"):
        library.MPI_Get_library_version(text, ctypes.byref(length))
        answer["version"] = text.value.decode("utf-8", "replace")[:4096]
    if hasattr(library, "MPI_Abi_get_version"):
        major, minor = ctypes.c_int(0), ctypes.c_int(0)
        if library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor)) == 0:
            answer["abi_major"], answer["abi_minor"] = major.value, minor.value
    sys.stdout.write("\nWIREPROOF " + json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
