"""The suite on other Pythons, on the oldest and the newest dependencies, and on a pre-release.

    python -m tools.compat                 every Python of this machine that pyproject.toml names
    python -m tools.compat newest          one kind of dependencies
    python -m tools.compat --python 3.13   one Python: a version, or a path

The oldest dependencies are tried on the oldest Python, a pre-release on the newest, and the newest
dependencies on all of them. Each trial has an environment of its own in .compat/, made by pip. What
is checked there: that every private name of TensorFlow's is known or done without, and every spec.
This takes some minutes each.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".compat"

FOR_TESTS = ("pytest>=9.0", "hypothesis", "syrupy", "jsonschema")
"""What the tests that are run there import beside the project's own dependencies."""

NAMES = ("oldest", "newest", "pre-release")

Version = tuple[int, int]


class Trial(NamedTuple):
    """Some dependencies on some Python."""

    name: str
    version: Version
    python: str

    def __str__(self) -> str:
        return f"{self.name} on Python {self.version[0]}.{self.version[1]}"


def project() -> dict[str, Any]:
    """What pyproject.toml says of the project."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def named_versions() -> list[Version]:
    """The Pythons that pyproject.toml says it was run on, oldest first."""
    named = (re.fullmatch(r".* :: Python :: 3\.(\d+)", each) for each in project()["classifiers"])
    return sorted((3, int(match[1])) for match in named if match)


def requirements(name: str) -> list[str]:
    """What pip is told to install: the lowest versions that are allowed, or whatever is newest."""
    found = project()["dependencies"]
    if name == "oldest":
        return [lowest(each) for each in found]
    return ["--pre", *found] if name == "pre-release" else list(found)


def lowest(requirement: str) -> str:
    """The requirement at its lower end: `click>=8.1` as `click==8.1.*`."""
    match = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement)
    if match is None:
        raise SystemExit(f"{requirement!r} in pyproject.toml has no lower end")
    return f"{match[1]}=={match[2]}.*"


def version_of(python: str) -> Version | None:
    """The version of an interpreter; None where it does not start."""
    ask = [python, "-c", "import sys, venv; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(ask, capture_output=True, text=True, check=False, timeout=60)
        major, minor = map(int, done.stdout.split())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return major, minor


def pythons() -> dict[Version, str]:
    """The Pythons of this machine that pyproject.toml names, oldest first.

    (A shim on the PATH may stand for a version that is not installed, before one that is: each is
    started.)
    """
    found = {}
    for version in named_versions():
        name = "python{}.{}".format(*version)
        everywhere = (shutil.which(name, path=folder) for folder in os.get_exec_path())
        paths = (path for path in (sys.executable, *everywhere) if path)
        if path := next((path for path in paths if version_of(path) == version), None):
            found[version] = path
    return found


def trials(names: list[str], found: dict[Version, str]) -> list[Trial]:
    """Which dependencies are tried on which of these Pythons, oldest first."""
    chosen = []
    for name in names:
        versions = list(found)
        if name != "newest":
            versions = versions[:1] if name == "oldest" else versions[-1:]
        chosen += [Trial(name, version, found[version]) for version in versions]
    return chosen


def environment(trial: Trial) -> Path:
    """The Python of an environment for a trial, made if it is not there."""
    folder = FOLDER / "{}-{}.{}".format(trial.name, *trial.version)
    interpreter = folder / "bin" / "python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run([trial.python, "-m", "venv", str(folder)])
        wanted = [*requirements(trial.name), *FOR_TESTS]
        _run([str(interpreter), "-m", "pip", "install", "--quiet", *wanted])
        (folder / "complete").touch()
    return interpreter


def went_well(trial: Trial) -> bool:
    """Whether the suite is as expected there; what is printed says what is not."""
    interpreter = str(environment(trial))
    names = "tests/checker/subject/test_private_names.py"
    tests = [interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", names]
    suite = [interpreter, "-m", "gradcheck", "run", "specs/", "--format", "plain"]
    return all(
        subprocess.run(each, cwd=ROOT, check=False).returncode == 0 for each in (tests, suite)
    )


def _run(command: list[str]) -> None:
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise SystemExit(f"failed: {' '.join(command)}")


def main() -> None:
    """Try what is asked for, and say how it went."""
    parser = argparse.ArgumentParser(description="the suite on other versions")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--python", help="one Python alone: 3.13, or a path")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"there is no {min(unknown)!r}: there are {', '.join(NAMES)}")
    found = pythons()
    if given.python:
        wanted = re.sub(r"^3\.\d+$", r"python\g<0>", given.python)
        version = version_of(wanted)
        if version is None:
            parser.error(f"{wanted} does not start, or has no `venv`")
        found = {version: wanted}
    for missing in set(named_versions()) - set(found) if not given.python else ():
        print("there is no Python {}.{} here: it is not tried".format(*missing))
    went = {trial: went_well(trial) for trial in trials(given.names or list(NAMES), found)}
    for trial, well in went.items():
        print(f"{trial}: {'as expected' if well else 'FAILED'}")
    sys.exit(not all(went.values()))


if __name__ == "__main__":
    main()
