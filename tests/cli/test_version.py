"""The version is the tag's, or says how far from it the tree is; every place tells the same."""

import subprocess
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.version import Version

import wireproof
from project_version import WrongTag, project_version
from wireproof.cli.subcommands import subcommands
from wireproof.version import NEXT, from_description, version, version_of

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "abc1234567"
TREE = ("pyproject.toml", "src/wireproof/version.py", ".gitattributes", ".git_archival.txt")


@pytest.mark.parametrize(
    ("described", "said"),
    [
        (f"v1.2.3-0-g{COMMIT}", "1.2.3"),
        (f"v1.2.3-0-g{COMMIT}-dirty", f"1.2.4.dev0+g{COMMIT}.dirty"),
        (f"v1.2.3-7-g{COMMIT}", f"1.2.4.dev7+g{COMMIT}"),
        (f"v0.0.9-7-g{COMMIT}", f"{NEXT}.dev7+g{COMMIT}"),
        (COMMIT, f"{NEXT}.dev42+g{COMMIT}"),
        (f"{COMMIT}-dirty", f"{NEXT}.dev42+g{COMMIT}.dirty"),
        ("fatal: no names found", f"{NEXT}.dev0+unknown"),
        ("v1.2.3-0-gabc1234567; echo", f"{NEXT}.dev0+unknown"),
    ],
)
def test_what_git_describes_is_a_version(described: str, said: str) -> None:
    assert from_description(described, commits="42") == said
    assert str(Version(said)) == said


def _tree(root: Path) -> None:
    (root / "src" / "wireproof").mkdir(parents=True)
    for name in TREE:
        (root / name).write_text((ROOT / name).read_text())


def _git(root: Path, *words: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", "-C", str(root), *own, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_checkout_tells_its_tag_or_how_far_it_is_from_it(tmp_path: Path) -> None:
    _tree(tmp_path)
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-qm", "one")
    commit = _git(tmp_path, "rev-parse", "--short=10", "HEAD")
    assert project_version(tmp_path) == f"{NEXT}.dev1+g{commit}"
    _git(tmp_path, "tag", f"v{NEXT}")
    assert project_version(tmp_path) == NEXT
    (tmp_path / "pyproject.toml").write_text("changed")
    assert project_version(tmp_path).endswith(f".dev0+g{commit}.dirty")
    assert Version(project_version(tmp_path)) > Version(NEXT)
    _git(tmp_path, "checkout", "-q", ".")
    _git(tmp_path, "tag", "-d", f"v{NEXT}")
    _git(tmp_path, "tag", "v99.0.0")
    with pytest.raises(WrongTag, match=r"the tag v99.0.0, but NEXT in .* is"):
        project_version(tmp_path)


def test_an_sdist_tells_what_it_was_made_as(tmp_path: Path) -> None:
    (tmp_path / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: wireproof\nVersion: 3.1\n")
    assert version_of(tmp_path) == "3.1"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((f"v{NEXT}", COMMIT * 4), NEXT),
        ((f"v1.2.3-4-g{COMMIT}", COMMIT * 4), f"1.2.4.dev4+g{COMMIT}"),
        (("", COMMIT), f"{NEXT}.dev0+g{COMMIT}"),
        (("$Format:%(describe)$", "$Format:%H$"), f"{NEXT}.dev0+unknown"),
    ],
)
def test_an_archive_of_git_tells_its_commit(
    tmp_path: Path, lines: tuple[str, str], said: str
) -> None:
    text = "describe: {}\ncommit: {}\n".format(*lines)
    (tmp_path / ".git_archival.txt").write_text(text)
    assert version_of(tmp_path) == said


def test_git_fills_the_file_in(tmp_path: Path) -> None:
    tree, archive = tmp_path / "tree", tmp_path / "archive.tar"
    _tree(tree)
    _git(tree, "init", "-q")
    _git(tree, "add", ".")
    _git(tree, "commit", "-qm", "one")
    _git(tree, "tag", f"v{NEXT}")
    _git(tree, "archive", f"--output={archive}", "HEAD")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    assert version_of(tmp_path / "unpacked") == NEXT


def test_a_folder_that_tells_nothing_is_a_development_version(tmp_path: Path) -> None:
    assert version_of(tmp_path) == f"{NEXT}.dev0+unknown"


def test_every_place_tells_the_same() -> None:
    assert wireproof.__version__ == version() == project_version()
    said = _say("--version")
    assert said == f"wireproof {version()}"
    assert _say("version") == said


def _say(word: str) -> str:
    return CliRunner().invoke(subcommands, [word]).output.strip()
