"""Spack recipe of wireproof. There is no archive to fetch; from a checkout:

spack repo create /path/to/repo site && copy this file to packages/wireproof/package.py in it, then
spack dev-build -d /path/to/checkout wireproof@0.1.0
"""

from spack.package import *


class Wireproof(PythonPackage):
    """Proves what an HPC interconnect does: every number with its path, its interval, its physical
    limit and a verdict."""

    manual_download = True
    license("BSD-3-Clause")

    version("0.1.0")

    # The engines: C++20, and C for the stubs of the MPI libraries. No MPI: the library that
    # answers is the launcher's choice where they run.
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    conflicts("%gcc@:11", msg="the engine is C++20 as GCC 12 has it")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja@1.11:", type="build")
    depends_on("py-scikit-build-core@1.1:", type="build")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-clustershell@1.9.3:", type=("build", "run"))
    depends_on("py-jinja2@3.1.5:", type=("build", "run"))
    depends_on("py-msgspec@0.20:", type=("build", "run"))
    depends_on("py-numpy@2.0:", type=("build", "run"))
    # Elsewhere the wheel of this name is the embedded MPI; here it is Spack's own.
    depends_on("mpich@5.0.1:", type="run")
