"""An output format is one file and one entry in FORMATS: nothing else has to know of it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gradcheck
from gradcheck.report import FORMATS

PACKAGE = Path(gradcheck.__file__).parent

SHOUT = '''
from gradcheck.report.reporter import CollectingReporter, Outcome


class ShoutReporter(CollectingReporter):
    """The whole run in capitals."""

    def report(self, outcome: Outcome) -> None:
        self.stream.write(f"{len(outcome.failures)} FAILED OF {outcome.tally.count}!\\n")


def comparison(outcome, background, options):
    return f"SINCE {background.earlier[-1].name.upper()}!\\n"
'''

MAIN = """
import sys
import gradcheck.report as report

# The one entry.
report.FORMATS = {
    **report.FORMATS,
    "shout": report.Format(
        reporter="shout:ShoutReporter", comparison="shout:comparison", baselines=True, beside=True
    ),
}
from gradcheck.cli import main

sys.exit(main())
"""


def run(folder: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(folder / "main.py"), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": f"{PACKAGE.parent}:{folder}", "PATH": "/usr/bin:/bin"},
    )
    return done.returncode, done.stdout + done.stderr


def test_a_new_format_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "shout.py").write_text(SHOUT)
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "a.yaml").write_text(
        "expr: x * x\ninputs: {x: 2.0}\ncases:\n- {}\n- {name: wrong, gradient: {x: '3 * x'}}\n"
    )
    told = run(tmp_path, "run", "a.yaml", "--format", "json", "--output", "a.json")[1]
    assert "2 cases: 1 pass, 1 mismatch" in told
    assert run(tmp_path, "report", "a.json", "--format", "shout") == (1, "1 FAILED OF 2!\n")
    assert run(tmp_path, "merge", "a.json", "--format", "shout") == (1, "1 FAILED OF 2!\n")
    both = run(tmp_path, "report", "a.json", "a.json", "--format", "plain", "--format", "shout")
    assert both[1].endswith("1 FAILED OF 2!\n")
    code, told = run(tmp_path, "compare", "a.json", "a.json", "--format", "shout")
    assert (code, told) == (0, "SINCE A.JSON!\n")
    file = ("--format", "shout", "--output", "a.txt")
    assert run(tmp_path, "run", "a.yaml", "-k", "wrong", *file, "--baseline", "a.json")[0] == 1
    assert (tmp_path / "a.txt").read_text() == "1 FAILED OF 1!\n"
    assert "shout" in run(tmp_path, "run", "--help")[1]


def test_every_format_is_found_where_formats_are() -> None:
    for name, one in FORMATS.items():
        module, _, _ = one.reporter.partition(":")
        assert re.fullmatch(rf"gradcheck\.report\.formats\.{name}(\.\w+)?", module)


# Who may say the name of a format: a default, an option that is short for one, or a format of
# something else than a report.
SAYS = {
    "cli/outputs.py": {"junit"},
    "cli/validate.py": {"github"},
}


@pytest.mark.parametrize("path", sorted((PACKAGE / "cli").glob("*.py")), ids=lambda p: p.name)
def test_no_command_knows_a_format_by_its_name(path: Path) -> None:
    # `explain` has formats of its own; these three are defaults here and there.
    known = FORMATS.keys() - {"table", "plain", "json"}
    if path.stem in ("explain", "explain_formats", "power"):
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert said & known <= SAYS.get(path.relative_to(PACKAGE).as_posix(), set())
