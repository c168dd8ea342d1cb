"""The recipes of `packaging/` say what pyproject.toml, CMake and tools/packages say."""

import ast
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.processes import ran

from wireproof.version import NEXT

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
PYTHON = PROJECT["requires-python"].removeprefix(">=")
RECIPES = sorted(path for path in PACKAGING.rglob("*") if path.is_file())


def _lower(text: str) -> tuple[str, str]:
    """Name and lowest version of a requirement of ours: they have no other bound."""
    requirement = Requirement(text)
    (bound,) = requirement.specifier
    assert bound.operator == ">=", text
    return canonicalize_name(requirement.name), bound.version


def _system(group: str, column: int) -> set[str]:
    """Packages of one group in tools/packages: column 3 is Debian's name, 4 RHEL's."""
    lines = (ROOT / "tools" / "packages").read_text().splitlines()
    rows = [line.split() for line in lines if line[:1] not in "#"]
    return {row[column] for row in rows if row[0] == group}


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_no_recipe_names_a_host(path: Path) -> None:
    assert "://" not in path.read_text()
    assert path.name == "README.md" or path.name in (PACKAGING / "README.md").read_text()


# Spack


def _calls() -> list[ast.Call]:
    tree = ast.parse((PACKAGING / "spack" / "package.py").read_text())
    (recipe,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert recipe.name == "Wireproof"
    assert [ast.unparse(base) for base in recipe.bases] == ["PythonPackage"]
    return [
        node.value
        for node in recipe.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ]


def _spack(word: str) -> list[tuple[str, object]]:
    """Each call of a directive: its first argument, and its ``type``."""
    found = []
    for call in _calls():
        if ast.unparse(call.func) == word:
            options = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
            found.append((ast.literal_eval(call.args[0]), options.get("type")))
    return found


def test_spack_has_version_and_licence() -> None:
    assert _spack("version") == [(NEXT, None)]
    assert _spack("license") == [(PROJECT["license"], None)]


def test_spack_runs_with_what_pyproject_asks_for() -> None:
    wanted = {f"python@{PYTHON}:"}
    for name, lowest in map(_lower, PROJECT["dependencies"]):
        # The wheel mpich is an MPI, not a Python package; Spack has no post-releases of it.
        mpi = name == "mpich"
        wanted.add(f"mpich@{lowest.partition('.post')[0]}:" if mpi else f"py-{name}@{lowest}:")
    runs = {spec for spec, kind in _spack("depends_on") if kind is None or "run" in kind}
    assert runs == wanted


def test_spack_builds_with_compilers_and_what_pyproject_asks_for() -> None:
    backend = [
        f"py-{name}@{low}:" for name, low in map(_lower, PYPROJECT["build-system"]["requires"])
    ]
    tools = PYPROJECT["tool"]["scikit-build"]
    programs = [
        f"{tool}@{tools[tool]['version'].removeprefix('>=')}:" for tool in ("cmake", "ninja")
    ]
    builds = {spec for spec, kind in _spack("depends_on") if kind == "build"}
    assert builds == {*backend, *programs, "c", "cxx"}
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert "LANGUAGES C CXX" in cmake
    assert "set(CMAKE_CXX_STANDARD 20)" in cmake
    assert "find_package(MPI" not in cmake


# RPM

SPEC = PACKAGING / "wireproof.spec"
SECTIONS = ["description", "prep", "build", "install", "check", "files", "changelog"]


def _tags(word: str) -> list[str]:
    return re.findall(rf"^{word}:\s+(.+)$", SPEC.read_text(), re.MULTILINE)


def test_rpm_has_each_section_once_and_the_projects_facts() -> None:
    text = SPEC.read_text()
    assert re.findall(rf"^%({'|'.join(SECTIONS)})\b", text, re.MULTILINE) == SECTIONS
    assert _tags("Name") == [PROJECT["name"]]
    assert f"%{{!?upstream: %global upstream {NEXT}}}\n" in text
    assert _tags("License") == [PROJECT["license"]]
    assert _tags("Source0") == ["wireproof-wheelhouse-%{upstream}.tar.gz"]
    assert f"- {NEXT}-1\n" in text


def test_rpm_needs_what_the_table_of_system_packages_names() -> None:
    python = f"python{PYTHON}"
    # The compiler made the wheelhouse; the package is made of that and compiles nothing.
    assert set(_tags("Requires")) == _system("run", 4) - {"gcc-c++"}
    assert set(_tags("BuildRequires")) == {python, f"{python}-pip"}
    assert f"%global python {python}\n" in SPEC.read_text()


def test_rpm_installs_from_the_wheelhouse_alone() -> None:
    (install,) = [line for line in SPEC.read_text().splitlines() if "pip install" in line]
    assert {"--no-index", "--no-compile"} <= set(install.split())


@pytest.mark.skipif(not shutil.which("rpmspec"), reason="needs rpmspec (Debian's package rpm)")
@pytest.mark.parametrize(
    ("upstream", "version"), [("", NEXT), ("0.1.0.dev7+gabc.dirty", "0.1.0~dev7+gabc.dirty")]
)
def test_rpm_is_read_by_rpmspec(upstream: str, version: str) -> None:
    defined = ["--define", f"upstream {upstream}"] if upstream else []

    def rpmspec(*words: str) -> str:
        command = ["rpmspec", *words, *defined, str(SPEC)]
        done = ran(command, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    read = rpmspec("-P")
    assert "/opt/wireproof/bin/python -m pip install" in read
    assert f"wireproof=={upstream or NEXT}\n" in read
    asked = rpmspec("-q", "--qf", "%{NAME} %{VERSION} %{LICENSE}")
    assert asked == f"{PROJECT['name']} {version} {PROJECT['license']}"


# Apptainer


def _stages() -> list[dict[str, str]]:
    """Header and sections of each stage of the definition."""
    text = (PACKAGING / "wireproof.def").read_text()
    stages = []
    for stage in re.split(r"^Bootstrap: ", text, flags=re.MULTILINE)[1:]:
        header, *sections = re.split(r"^%", f"Bootstrap: {stage}", flags=re.MULTILINE)
        found = dict(re.findall(r"^(\w+): (\S+)$", header, re.MULTILINE))
        for section in sections:
            name, _, body = section.partition("\n")
            assert name not in found, f"%{name} twice in a stage"
            found[name] = body
        stages.append(found)
    return stages


def _apt(section: str) -> set[str]:
    (line,) = re.findall(r"apt-get install -y --no-install-recommends (.+)", section)
    return set(line.split())


def test_apptainer_builds_in_one_stage_and_keeps_the_other_free_of_compilers() -> None:
    build, final = _stages()
    assert build["Bootstrap"] == final["Bootstrap"] == "docker"
    assert build["From"] == final["From"] == "debian:12"
    assert (build["Stage"], final["Stage"]) == ("build", "final")
    assert _apt(build["post"]) <= _system("run", 3)
    assert _apt(build["post"]) >= {"g++", "python3-venv"}
    assert "g++" not in _apt(final["post"])
    assert _apt(final["post"]) >= _system("run", 3) - {"g++", "python3-venv"}
    assert final["files from build"].split() == ["/opt/wireproof"] * 2


def test_apptainer_has_the_version_and_the_command() -> None:
    build, final = _stages()
    assert build["arguments"].strip() == final["arguments"].strip() == f"version={NEXT}"
    assert "dist/wireproof-{{ version }}.tar.gz" in build["files"]
    assert "image.version {{ version }}\n" in final["labels"]
    assert f"image.licenses {PROJECT['license']}\n" in final["labels"]
    assert final["runscript"].strip() == 'exec /opt/wireproof/bin/wireproof "$@"'
    assert {"environment", "test", "help"} <= set(final)
