"""A small soak: real checks, while workers, fork server and command are killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tools.soak import cases
from tools.soak.tally import tally

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]


def test_nothing_is_lost_doubled_or_wrong(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.soak", "--cases", "800", "--folder", str(tmp_path)]
    command += ["--seed", "5", "--every", "0.3", "--kills", "8"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    log = (tmp_path / "log.txt").read_text()
    assert done.returncode == 0, done.stdout + done.stderr + log[-3000:]
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if line[0].isalpha())
    assert {told[name] for name in ("lost", "doubled", "wrong", "left")} == {"0", "over 0"}
    assert " by SIG" in told["killed"]


def lose(results: list[dict[str, Any]]) -> None:
    results.pop()


def double(results: list[dict[str, Any]]) -> None:
    results.append(results[3])


def change_the_verdict(results: list[dict[str, Any]]) -> None:
    results[3]["verdict"] = "crashed"


def mix_up(results: list[dict[str, Any]]) -> None:
    first, second = results[3], results[4]
    first["comparisons"], second["comparisons"] = second["comparisons"], first["comparisons"]


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda _: None, (0, 0, 0)),
        (lose, (1, 0, 0)),
        (double, (0, 1, 0)),
        (change_the_verdict, (0, 0, 1)),
        (mix_up, (0, 0, 2)),
    ],
)
def test_the_tally_sees(
    damage: Callable[[list[dict[str, Any]]], None], found: tuple[int, ...], tmp_path: Path
) -> None:
    known = cases.write(tmp_path / "specs", 60, 1)
    results = [
        {
            "id": f"{name}[seed={seed}]",
            "seed": seed,
            "verdict": verdict,
            "message": "",
            "diagnosis": None,
            "comparisons": [{"max_abs_error": seed / 7}],
        }
        for (name, seed), verdict in known.items()
    ]
    lines = [json.dumps({"key": "x", "result": result}) for result in results]
    (tmp_path / "journal.jsonl").write_text("\n".join(["{}", *lines]))
    damage(results)
    (tmp_path / "report.json").write_text(json.dumps({"results": results}))
    told = tally(known, tmp_path / "report.json", tmp_path / "journal.jsonl")
    assert (len(told.lost), len(told.doubled), len(told.wrong)) == found
    assert told.good == (not any(found))


def test_a_result_that_was_written_twice_is_doubled(tmp_path: Path) -> None:
    known = cases.write(tmp_path / "specs", 2, 1)
    entry: dict[str, Any] = {"message": "", "diagnosis": None, "comparisons": []}
    results = [
        {"id": name, "seed": seed, "verdict": verdict, **entry}
        for (name, seed), verdict in known.items()
    ]
    lines = [json.dumps({"key": "x", "result": result}) for result in [*results, results[0]]]
    (tmp_path / "journal.jsonl").write_text("\n".join(lines))
    (tmp_path / "report.json").write_text(json.dumps({"results": results}))
    told = tally(known, tmp_path / "report.json", tmp_path / "journal.jsonl")
    assert len(told.doubled) == 1


@pytest.mark.parametrize("count", [1, 2, 51, 600])
def test_there_are_as_many_cases_as_asked_for(count: int, tmp_path: Path) -> None:
    from gradcheck.spec import load

    known = cases.write(tmp_path / "specs", count, count)
    loaded = load([str(tmp_path / "specs")])
    assert loaded.problems == ()
    assert len(known) == count
    assert {case.id.partition("/specs/")[2].partition("[")[0] for case in loaded.cases} == {
        name.partition("specs/")[2] for name, _ in known
    }
    assert len(loaded.cases) == count
