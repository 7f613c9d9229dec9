"""The broad set is as broad as it says, both checkers get the same, and the means are right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks import broad, figures, frameworks, measuring, torch_layers
from benchmarks.calls import BROAD, Call
from benchmarks.calls.declaration import DTYPES, F32, F64, Prepared
from benchmarks.measuring import OURS, THEIRS, Effort, Record, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SMALL = {
    "float16": 2e-2,
    "bfloat16": 1e-1,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float64": 1e-9,
    "complex128": 1e-9,
}
"""How far a layer's eager call may be from its stateless one."""


def test_the_set_is_broad() -> None:
    names = [call.name for call in BROAD]
    assert len(set(names)) == len(names) >= 120
    assert {call.dtype for call in BROAD} == set(DTYPES)
    families = figures.grouped([made_up(call.name, family=call.family) for call in BROAD], family)
    assert len(families) >= 15
    assert {"Keras layers", "scalar losses", "control flow", "linear algebra"} <= families.keys()
    assert min(map(len, families.values())) >= 3
    assert len(families["Keras layers"]) >= 20


def family(record: Record) -> str:
    return record.family


def test_no_class_of_sizes_is_empty_and_small_ones_are_many() -> None:
    sizes = [call.prepare().numbers for call in BROAD]
    assert min(sizes) == 1
    assert max(sizes) == 1000
    for low, high in figures.SIZES:
        assert sum(low <= size <= high for size in sizes) >= 12
    assert sum(size < 10 for size in sizes) >= len(sizes) / 4
    assert sum(call.dtype == F32 for call in BROAD) >= len(sizes) / 3


@pytest.mark.parametrize("call", BROAD, ids=lambda call: call.name)
def test_both_checkers_get_the_same_function(call: Call) -> None:
    tf = frameworks.load("tensorflow")
    prepared = call.prepare()
    assert all(value.dtype == tf.as_dtype(call.dtype).as_numpy_dtype for value in prepared.values)
    options = prepared.options.get("call", {})
    checked = prepared.checked(*map(tf.constant, prepared.inputs), **options)
    plain = prepared.plain(*map(tf.constant, prepared.values))
    assert (checked.shape, checked.dtype) == (plain.shape, plain.dtype)
    mine, theirs = array(checked), array(plain)
    assert np.isfinite(theirs).all()
    np.testing.assert_allclose(mine, theirs, rtol=SMALL[call.dtype], atol=SMALL[call.dtype])


def array(tensor: Any) -> Any:
    # A scalar of bfloat16 is no array for numpy.
    return np.asarray(tensor.numpy()).astype(complex)


def test_two_preparations_share_no_layer() -> None:
    dense = next(call for call in BROAD if call.name.startswith("Dense 3"))
    first, second = dense.prepare(), dense.prepare()
    assert first.checked is not second.checked
    for a, b in zip(first.values, second.values, strict=True):
        np.testing.assert_array_equal(a, b)


def made_up(name: str, ours: float = 1.0, theirs: float = 2.0, **more: Any) -> Record:
    seconds = {OURS: ours, THEIRS: theirs}
    given = {"family": "f", "dtype": F64, "numbers": 3, "verdict": "pass", **more}
    return Record(name, seconds=seconds, processor={OURS: 2.0, THEIRS: 6.0}, **given)


@pytest.mark.parametrize(
    ("numbers", "text"), [(1, "1–9"), (9, "1–9"), (10, "10–99"), (299, "100–299"), (1000, "1,000")]
)
def test_classes_of_sizes(numbers: int, text: str) -> None:
    assert text in figures.size_class(numbers)


def test_a_group_has_the_geometric_mean_of_its_ratios() -> None:
    name, calls, ours, theirs, ratio, processor, least, most = figures.row(
        "both", [made_up("a", 0.001, 0.002), made_up("b", 0.004, 0.032)]
    )
    assert (name, calls) == ("both", "2")
    assert (ours, theirs) == ("2", "8")
    assert (ratio, processor, least, most) == ("**4.00**", "3.00", "2.00", "8.0")


def test_what_stands_out_is_named() -> None:
    fast, slow = made_up("fast"), made_up("slow", ours=4.1, theirs=2.0)
    endless = made_up("endless", ours=60.0, theirs=61.0, verdict="timeout", given_up=[OURS])
    records = [fast, slow, endless]
    assert figures.slowest(records, 2) == [endless, slow]
    assert figures.behind(records) == [slow]
    assert figures.long(records) == [endless]
    assert figures.not_passed(records) == [endless]
    text = broad.section(records, measuring.QUICK)
    assert "> 60,000" in text
    assert "1 verdicts are not what they should be" in text
    assert "More than twice as slow as tf.test: 1." in text
    assert "every other verdict is `pass`" in broad.section([fast], measuring.QUICK)


def turns_of(checker: str, *seconds: float, verdict: str = "pass") -> list[Turn]:
    return [Turn(checker, second, second / 2, 3, verdict) for second in seconds]


def test_the_best_time_counts_and_the_first_only_warms_up() -> None:
    taken = [*turns_of(OURS, 0.1, 0.5, 0.3), *turns_of(THEIRS, 0.7)]
    record = measuring.record(BROAD[0], taken, measuring.FULL, {})
    assert record.seconds == {OURS: 0.3, THEIRS: 0.7}
    assert record.processor == {OURS: 0.15, THEIRS: 0.35}
    assert record.verdict == "pass"


def test_a_check_that_was_given_up_counts_with_its_limit() -> None:
    record = measuring.record(BROAD[0], turns_of(THEIRS, 2.0), measuring.FULL, {OURS: "timeout"})
    assert record.seconds == {OURS: 60.0, THEIRS: 2.0}
    assert (record.verdict, record.given_up) == ("timeout", [OURS])


def test_a_verdict_that_changes_is_told() -> None:
    taken = [*turns_of(OURS, 1.0), *turns_of(OURS, 1.0, verdict="kink"), *turns_of(THEIRS, 1.0)]
    assert measuring.record(BROAD[0], taken, measuring.FULL, {}).verdict == "kink/pass"


def test_turns_alternate_and_end_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(checker: str, prepared: Prepared) -> Turn:
        return Turn(checker, 1.0, 1.0, prepared.numbers)

    monkeypatch.setattr(measuring, "_turn", check)
    both = (OURS, THEIRS)
    rounds = [t for t in measuring.turns(BROAD[0], both, Effort(2, 60, 60)) if isinstance(t, str)]
    assert rounds == [OURS, THEIRS, THEIRS, OURS, OURS, THEIRS]
    once = [t for t in measuring.turns(BROAD[0], both, Effort(2, 0, 60)) if isinstance(t, str)]
    assert once == [OURS, THEIRS]


def test_a_check_beyond_its_limit_is_given_up_and_the_bench_goes_on() -> None:
    bench = measuring.Bench(Effort(rounds=1, seconds=60, limit=0.01))
    # (One that takes both of them far longer, however late this process looks.)
    (dear,) = (call for call in BROAD if call.name.startswith("eigenvalues of a tri"))
    try:
        record = bench.measure(dear)
        assert record.given_up == [OURS, THEIRS]
        bench.effort = Effort(rounds=1, seconds=60, limit=60.0)
        record = bench.measure(BROAD[0])
    finally:
        bench.close()
    assert record.verdict == "pass"
    assert record.given_up == []
    assert record.numbers == 6
    assert all(0 < seconds < 60 for seconds in record.seconds.values())


def test_the_records_are_dumped_for_programs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stand:
        def __init__(self, effort: Effort) -> None:
            pass

        def measure(self, call: Call) -> Record:
            return made_up(call.name)

        def close(self) -> None:
            pass

    monkeypatch.setattr(broad, "Bench", Stand)
    text = broad.run(quick=True, pattern="keras layers", dump=tmp_path / "x.json")
    assert text.startswith("## Broad set")
    rows: Sequence[dict[str, Any]] = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in rows] == [c.name for c in BROAD if "Keras layers" in c.family]
    assert rows[0]["ratio"] == 2.0
    assert rows[0].keys() >= {"family", "dtype", "numbers", "seconds", "processor", "verdict"}
    assert f"1/{len(rows)} " in capsys.readouterr().err


def test_a_pattern_that_fits_nothing_is_refused() -> None:
    with pytest.raises(SystemExit, match="no call"):
        broad.chosen("no such call")


def test_without_torch_its_layers_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_layers, "installed", lambda _: False)
    assert "not installed" in torch_layers.run()


@pytest.mark.skipif(not frameworks.installed("torch"), reason="torch is not installed")
@pytest.mark.parametrize("pair", torch_layers.PAIRS, ids=lambda pair: pair.name)
def test_torch_layers_have_the_same_outputs_to_differentiate(pair: torch_layers.Pair) -> None:
    layer, inputs = torch_layers.keras_layer(pair)
    function, values = torch_layers.torch_layer(pair)
    mine, theirs = np.asarray(layer(*inputs)), function(*values).detach().numpy()
    assert mine.dtype == theirs.dtype == np.float64
    assert sorted(mine.shape) == sorted(theirs.shape)
