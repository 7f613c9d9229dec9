"""Run the benchmarks: `python -m benchmarks` writes benchmarks/RESULTS.md."""

from __future__ import annotations

import argparse
import inspect
import os
import shlex
import sys
import tempfile
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.frameworks import environment
from benchmarks.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESULTS = Path(__file__).with_name("RESULTS.md")

SECTIONS = ("broad", "torch_layers", "detection", "speed", "growth", "execution")
"""Modules of this package with a function `run`, which returns a section of Markdown."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the sections and write or print what they say."""
    sections = [name for name in SECTIONS if find_spec(f"benchmarks.{name}")]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare gradcheck with other checkers. A full run writes "
        f"{RESULTS.parent.name}/{RESULTS.name}; one that is quick or partial is printed.",
    )
    parser.add_argument("--only", choices=sections, metavar="NAME", help=", ".join(sections))
    parser.add_argument("--quick", action="store_true", help="fewer rounds, rougher figures")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to this file")
    parser.add_argument("-k", dest="pattern", default="", help="only such calls of the broad set")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="the broad set's times, call by call"
    )
    given = parser.parse_args(arguments)
    chosen = [given.only] if given.only else sections
    if (given.pattern or given.json) and "broad" not in chosen:
        parser.error("-k and --json are about the broad set")
    partial = bool(given.only or given.quick or given.pattern)
    text = report(chosen, quick=given.quick, pattern=given.pattern, dump=given.json)
    # Rough or partial figures must not take the place of good ones unasked.
    output = given.output or (None if partial else RESULTS)
    if output is None:
        print(text, end="")
    else:
        write(output, text)
        _say(f"written to {output}")


def report(
    sections: Sequence[str],
    *,
    quick: bool = False,
    pattern: str = "",
    dump: Path | None = None,
) -> str:
    """The whole report."""
    command = "python -m benchmarks"
    if len(sections) == 1:
        command += f" --only {sections[0]}"
    if quick:
        command += " --quick"
    if pattern:
        command += f" -k {shlex.quote(pattern)}"
    options = {"quick": quick, "pattern": pattern, "dump": dump}
    parts = [
        "# Benchmarks\n",
        f"Made by `{command}` (`make bench` runs all of it).\n",
        table(["environment", ""], environment()) + "\n",
    ]
    for name in sections:
        _say(f"{name} …")
        started = time.perf_counter()
        parts.append(_run(name, options))
        _say(f"{name}: {time.perf_counter() - started:.0f} s")
    return "\n".join(parts)


def write(path: Path, text: str) -> None:
    """All of it or nothing: a run that is interrupted leaves the old file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _run(name: str, options: dict[str, Any]) -> str:
    run: Callable[..., str] = import_module(f"benchmarks.{name}").run
    # A section that has no short form is run in full, and what it cannot choose from as a whole.
    known = inspect.signature(run).parameters
    return run(**{key: value for key, value in options.items() if value and key in known})


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
