"""No text from outside becomes a line that a CI takes for a command, in any format."""

from __future__ import annotations

import contextlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from gradcheck.cli.app import main
from gradcheck.model import CodePlace, Diagnosis, Location, Plan, SpecProblem, Verdict
from gradcheck.report import FORMATS, comparing_formats, make_reporter
from gradcheck.report.safe_text import SafeStream, defused
from gradcheck.run import summarise
from tests.report import examples

if TYPE_CHECKING:
    from gradcheck.model import Result

COMMANDS = [
    "::error::x",
    "::set-output name=a::b",
    "::add-mask::e",
    "::stop-commands::token",
    "##[error]x",
    "##[group]x",
    "##vso[task.setvariable variable=a]b",
    "##VSO[task.complete result=Succeeded;]",
    "##teamcity[buildStatus status='SUCCESS']",
    "\x1b[0Ksection_start:1560896352:a\r\x1b[0Kx",
    "section_end:1560896353:a\r\x1b[0K",
    "travis_fold:start:x",
]
AROUND = [
    "{}", "\n{}", "a\n  \t{}", "a\r{}", "a\r\n{}", "a\x85{}", "a\u2028{}", "\x00{}", "\x1b[1m{}",
    " {}", "\x0b{}", "word " * 40 + "{}",
]  # fmt: skip

ATTACK = "\n".join(form.format(command) for command in COMMANDS for form in AROUND)

# As the runners look for them: GitHub at the start of a line, blanks aside, the others anywhere.
LINES = re.compile(r"^\s*::")
ANYWHERE = re.compile(r"##\[|##vso\[|##teamcity\[|section_(start|end):|travis_fold:", re.IGNORECASE)
BREAKS = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def commands(printed: str) -> list[str]:
    lines = BREAKS.split(printed)
    return [line for line in lines if LINES.search(line) or ANYWHERE.search(line)]


def hostile(result: Result) -> Result:
    case = result.case
    if case is not None:
        where = Location(ATTACK, 3, 4)
        case = replace(case, id=ATTACK, path=ATTACK, name=ATTACK, location=where, reason=ATTACK)
        case = replace(case, tags=(ATTACK,))
    comparisons = tuple(
        replace(
            c,
            name=ATTACK,
            note=ATTACK,
            dtype=ATTACK,
            diagnosis=Diagnosis(ATTACK, ATTACK),
            places=(CodePlace(ATTACK, 1, ATTACK),),
        )
        for c in result.comparisons
    )
    return replace(result, id=ATTACK, message=ATTACK, case=case, comparisons=comparisons)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("number", range(len(examples.all_results())))
def test_no_line_is_a_command(name: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    result = hostile(examples.all_results()[number])
    problem = SpecProblem(ATTACK, Location(ATTACK, 1, 1), ATTACK, ATTACK)
    cases = (result.case,) if result.case else ()
    stream = io.StringIO()
    reporter = make_reporter(name, stream, verbose=True, durations=0, color=False)
    reporter.start(Plan(cases=cases, problems=(problem,), environment={ATTACK: ATTACK}))
    reporter.result(result)
    reporter.finish(summarise([result], problems=1, seconds=1.0, interrupted=False))
    printed, found = stream.getvalue(), commands(stream.getvalue())
    if name == "github":
        # Its own commands, one a line, and nothing in them.
        found = [line for line in found if not re.match(r"::(error|warning|notice) [a-z]+=", line)]
    assert found == []
    if name == "json":
        assert json.loads(printed)["results"][0]["message"] == ATTACK
    if name == "junit":
        assert "##vso[task.setvariable" in "".join(
            child.text or ""
            for child in ET.fromstring(printed).iter()  # noqa: S314
        )


@pytest.mark.parametrize("command", COMMANDS)
def test_pieces_do_not_make_one(command: str) -> None:
    for size in (1, 2, 3, 7):
        below = io.StringIO()
        stream = SafeStream(below)
        for start in range(0, len(command), size):
            stream.write(command[start : start + size])
        stream.write("\n")
        assert commands(below.getvalue()) == []


def test_ids_stay_as_they_are() -> None:
    text = "specs/a.yaml::name[float32]\n  at specs/a.yaml::other\n# a comment\n## a title\n"
    assert defused(text) == text
    below = io.StringIO()
    stream = SafeStream(below)
    for part in ("specs/a.yaml", "::", "name", ":", ":", "x\n"):
        stream.write(part)
    assert below.getvalue() == "specs/a.yaml::name::x\n"


def test_what_the_commands_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["::error::a.yaml", "a\n::error::b.yaml", "##vso[x]c.yaml", "\x1b[31md.yaml"]
    Path("specs").mkdir()
    for name in names:
        Path(name).write_text("op: exp\ninputs: {x: [2]}\n")
        with contextlib.suppress(OSError):
            Path("specs", name).write_text("op: '::error::x'\n'##vso[x]': '\n::error::y'\n")
    for words in (
        ["run", "--collect-only", *names],
        ["run", "--collect-only", "specs"],
        ["validate", "specs"],
        ["validate", "\n::error::x"],
        ["validate", "--\n::error::x"],
        ["\n::error::x"],
        ["run", "specs", "-k", "\n::error::x ("],
        ["explain", "\n::error::x"],
        ["explain", "--expr", "\n::error::x"],
        ["explain", "--expr", "tf.exp(x)", "--at", "x=\n::error::x"],
        ["merge", "\n::error::x"],
        ["compare", "::error::a.yaml", "::error::b.yaml"],
        ["ops", "\n::error::x"],
        ["validate", "specs", "--allow", "\n::error::x"],
    ):
        assert main(words) in (0, 2, 5)
        captured = capsys.readouterr()
        assert commands(captured.out) == [], words
        assert commands(captured.err) == [], words
        assert "\x1b" not in captured.out + captured.err


def test_compare_says_no_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for file, verdict in (("old.json", Verdict.PASS), ("new.json", Verdict.ERROR)):
        result = replace(hostile(examples.passing()), verdict=verdict)
        cases = (result.case,) if result.case else ()
        with Path(file).open("w") as stream:
            reporter = make_reporter("json", stream)
            reporter.start(Plan(cases=cases, problems=(), environment={"a": file + ATTACK}))
            reporter.result(result)
            reporter.finish(summarise([result], problems=0, seconds=1.0, interrupted=False))
    assert main(["compare", "old.json", "new.json"]) == 1
    for name in comparing_formats():
        assert main(["compare", "old.json", "new.json", "--format", name]) == 1
    assert main(["merge", "new.json", "--format", "table"]) == 1
    captured = capsys.readouterr()
    assert commands(captured.out + captured.err) == []


def test_only_one_module_prints() -> None:
    folder = Path(__file__).parents[2] / "gradcheck"
    found = [p.name for p in folder.rglob("*.py") if "click.echo(" in p.read_text(encoding="utf-8")]
    assert found == ["say.py"]
