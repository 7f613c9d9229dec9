from __future__ import annotations

import math
from dataclasses import replace

from gradcheck.model import Result, Verdict
from gradcheck.report.tally import ResultTally, split_id, verdict_counts
from tests.report import examples


def test_a_file_shows_its_worst() -> None:
    results = [examples.passing(), examples.nonfinite(), examples.mismatch()]
    files = ResultTally(results).files()
    assert [file.path for file in files] == [examples.MATMUL, examples.EDGES]
    assert files[0].max_abs_error == 1e-3
    assert files[0].verdicts == "1 pass, 1 mismatch"
    assert files[0].failed
    assert files[1].max_abs_error is not None
    assert math.isnan(files[1].max_abs_error)


def test_results_may_come_in_any_order() -> None:
    results = examples.all_results()
    forward, backward = ResultTally(results), ResultTally()
    for position in reversed(range(len(results))):
        backward.add(results[position], position)

    def told(tally: ResultTally) -> list[str]:  # (NaN is not equal to itself)
        return [str(replace(file, seconds=round(file.seconds, 9))) for file in tally.files()]

    assert told(forward) == told(backward)
    assert forward.verdicts == backward.verdicts == verdict_counts(results)
    assert forward.count == backward.count == len(results)


def test_an_id_without_a_file_is_a_name() -> None:
    assert split_id(Result("swish", Verdict.PASS)) == ("", "swish")
