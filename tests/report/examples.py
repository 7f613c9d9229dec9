"""A run made by hand: every verdict, every kind of expectation, every awkward number."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

import numpy as np

from gradcheck.model import (
    Case,
    CheckKind,
    CloseUp,
    CodePlace,
    Comparison,
    Diagnosis,
    Element,
    Expectation,
    GradientCall,
    Input,
    KnownBug,
    Location,
    Mode,
    Plan,
    Result,
    SpecProblem,
    Stage,
    Summary,
    Target,
    TargetKind,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gradcheck.report import Reporter

ENVIRONMENT = {"gradcheck": "0.1.0", "tensorflow": "2.21.0", "numpy": "2.4.0", "python": "3.11.9"}

MATMUL = "specs/linalg/matmul.yaml"
EDGES = "specs/guide/edges.yaml"


def case(
    case_id: str,
    *,
    line: int = 3,
    expect: Expectation = None,
    reason: str = "",
    dtype: str = "float64",
    mode: Mode = Mode.EAGER,
    tags: tuple[str, ...] = (),
) -> Case:
    path, _, name = case_id.partition("::")
    where = Location(path, line, 5)
    return Case(
        id=case_id,
        path=path,
        name=name,
        location=where,
        target=Target(TargetKind.OP, "matmul", where),
        inputs=(Input("a", (2, 2), where),),
        dtype=dtype,
        mode=mode,
        expect=expect,
        reason=reason,
        tags=tags,
    )


def compared(
    name: str,
    verdict: Verdict = Verdict.PASS,
    shape: tuple[int, ...] = (3, 4),
    *,
    errors: tuple[float, float, float] | None = (1.2e-14, 3e-13, 4e-13),
    worst: tuple[Element, ...] = (),
    failing: int = 0,
    note: str = "",
    diagnosis: Diagnosis | None = None,
    dtype: str = "float64",
    check: CheckKind = CheckKind.REVERSE,
    judged: int | None = None,
    directions: int = 0,
    analytic: np.ndarray | None = None,
    stage: Stage = Stage.FIRST_LOOK,
    places: tuple[CodePlace, ...] = (),
) -> Comparison:
    largest = errors or (None, None, None)
    return Comparison(
        name=name,
        verdict=verdict,
        shape=shape,
        dtype=dtype,
        check=check,
        note=note,
        judged=int(np.prod(shape)) if judged is None else judged,
        directions=directions,
        max_abs_error=largest[0],
        max_rel_error=largest[1],
        error_bar=largest[2],
        worst=worst,
        failing=failing,
        diagnosis=diagnosis,
        analytic=analytic,
        numeric=analytic,
        decided_by=stage,
        places=places,
    )


def passing(case_id: str = f"{MATMUL}::plain", **changes: float) -> Result:
    both = (compared("a"), compared("b", shape=(4, 5)))
    seconds = changes.get("seconds", 0.0213)
    stage, own = Stage.FIRST_LOOK, case(case_id)
    return Result(case_id, Verdict.PASS, both, seconds=seconds, case=own, decided_by=stage)


def with_gradients() -> Result:
    """One that tells which gradient functions it went through."""
    calls = (
        GradientCall("MatMul", CheckKind.REVERSE, ("float32", "float64"), "transpose_a=True"),
        GradientCall("Mul", CheckKind.SECOND, ("float64",)),
    )
    second = replace(compared("b"), check=CheckKind.SECOND)
    told = passing(f"{MATMUL}::with-gradients")
    return replace(told, comparisons=(*told.comparisons, second), called=calls)


def with_known_bug() -> Result:
    """One whose spec says all that can be said of a known bug."""
    bug = KnownBug(
        versions="tensorflow<2.22",
        otherwise="error when tensorflow<2.17",
        mended="it was wrong",
        instead="tf.matmul(a, b)",
        issue="https://example.org/1",
    )
    told = known_bug()
    assert told.case is not None
    return replace(told, id=f"{MATMUL}::with-known-bug", case=replace(told.case, bug=bug))


def mismatch() -> Result:
    case_id = f"{MATMUL}::transposed[float32,xla]"
    worst = (
        Element((0, 1), 0.74613, 2.001, 2.0, 3.1e-13, formula=2.0),
        Element((2, 3), -1.5, -0.4510051, -0.451, 2.2e-14, formula=-0.451),
        Element((1, 0), 12.25, 1e-9, 2e-9, 4e-14, formula=2e-9),
    )
    sign = Diagnosis("factor", "The gradient is 1.0005 times what it should be, everywhere.")
    wrong = compared(
        "a",
        Verdict.MISMATCH,
        errors=(1e-3, 5e-4, 3.1e-13),
        places=(CodePlace("layers/products.py", 31, "Product.call.grad"),),
        worst=worst,
        failing=3,
        diagnosis=sign,
        note="The closed formula agrees with the numeric derivative.",
        dtype="float32",
        analytic=np.arange(12.0).reshape(3, 4),
        stage=Stage.CONFIRMATION,
    )
    return Result(
        case_id,
        Verdict.MISMATCH,
        (wrong, compared("b", shape=(4, 5))),
        seconds=0.31,
        case=case(case_id, line=7, dtype="float32", mode=Mode.XLA, tags=("slow",)),
        decided_by=Stage.CONFIRMATION,
    )


def complex_mismatch() -> Result:
    case_id = f"{EDGES}::a complex input with a long name[complex128,graph]"
    element = Element((), 1.5 - 2j, 0.25 + 1j, 0.25 - 1j, 2e-13, formula=0.25 - 1j)
    wrong = compared(
        "z",
        Verdict.MISMATCH,
        (),
        errors=(2.0, 1.94, 2e-13),
        worst=(element,),
        failing=1,
        diagnosis=Diagnosis("conjugate", "The gradient is the conjugate of what it should be."),
        dtype="complex128",
        analytic=np.array(0.25 + 1j),
    )
    return Result(
        case_id, Verdict.MISMATCH, (wrong,), seconds=0.05, case=case(case_id, dtype="complex128")
    )


def disconnected() -> Result:
    case_id = f"{EDGES}::captured constant"
    lost = compared("b", Verdict.DISCONNECTED, (2, 2), errors=None, failing=4)
    return Result(
        case_id, Verdict.DISCONNECTED, (compared("a"), lost), seconds=0.01, case=case(case_id)
    )


def nonfinite() -> Result:
    case_id = f"{EDGES}::root at zero"
    worst = (
        Element((0,), 0.0, float("nan"), 0.0, 1e-15),
        Element((2,), 0.0, float("inf"), 0.0, 1e-15),
    )
    bad = compared(
        "x",
        Verdict.NONFINITE,
        (5,),
        errors=(float("nan"), float("inf"), 1e-15),
        worst=worst,
        failing=2,
        analytic=np.array([np.nan, 1.0, np.inf, -np.inf, 2.0]),
    )
    return Result(case_id, Verdict.NONFINITE, (bad,), seconds=0.01, case=case(case_id))


def kink() -> Result:
    case_id = f"{EDGES}::abs at zero"
    element = Element((), 0.0, 0.0, 0.0, 1.0, left=-1.0, right=1.0)
    bent = compared("x", Verdict.KINK, (), errors=(0.0, 0.0, 1.0), worst=(element,))
    return Result(case_id, Verdict.KINK, (bent,), seconds=0.01, case=case(case_id))


def broken_kink() -> Result:
    case_id = f"{EDGES}::leaky relu at zero"
    element = Element((1,), 0.0, 3.0, 0.5, 0.5, left=0.0, right=1.0)
    wrong = compared(
        "x", Verdict.MISMATCH, (2,), errors=(2.0, 2 / 3, 0.5), worst=(element,), failing=1
    )
    return Result(case_id, Verdict.MISMATCH, (wrong,), seconds=0.01, case=case(case_id))


def inconclusive() -> Result:
    case_id = f"{EDGES}::ill conditioned"
    poor = compared(
        "x",
        Verdict.INCONCLUSIVE,
        (100, 1000),
        errors=(12.5, 1.1, 1234.0),
        judged=64,
        directions=8,
        failing=64,
        check=CheckKind.SECOND,
    )
    return Result(case_id, Verdict.INCONCLUSIVE, (poor,), seconds=12.3, case=case(case_id))


def error() -> Result:
    case_id = f"{EDGES}::raises"
    message = (
        "InvalidArgumentError: \x1b[31mIncompatible shapes\x1b[0m: [2,3] vs. [4,5]\n  at Add[x]"
    )
    return Result(case_id, Verdict.ERROR, (), message, seconds=0.1, case=case(case_id))


def crashed() -> Result:
    case_id = f"{EDGES}::aborts"
    message = "killed by SIGABRT (6); last output: Check failed: 100% <b> & ]]> \x00\x07"
    return Result(case_id, Verdict.CRASHED, (), message, seconds=0.4, case=case(case_id))


def timeout() -> Result:
    case_id = f"{EDGES}::hangs"
    return Result(
        case_id, Verdict.TIMEOUT, (), "still running after 30 s", seconds=30.0, case=case(case_id)
    )


def skipped() -> Result:
    case_id = f"{EDGES}::on a gpu"
    return Result(case_id, Verdict.SKIPPED, (), "there is no GPU", case=case(case_id))


def known_bug() -> Result:
    case_id = f"{EDGES}::roll[int8]"
    wrong = compared("x", Verdict.MISMATCH, (2,), errors=(1.0, 1.0, 1e-13), failing=1)
    known = case(case_id, expect=Verdict.MISMATCH, reason="wrong for | negative shifts")
    return Result(case_id, Verdict.MISMATCH, (wrong,), seconds=0.02, case=known)


def bug_gone() -> Result:
    case_id = f"{EDGES}::roll[float64]"
    known = case(case_id, expect=Verdict.MISMATCH, reason="wrong for negative shifts")
    return Result(case_id, Verdict.PASS, (compared("x", shape=(2,)),), seconds=0.02, case=known)


def one_input_as_expected() -> Result:
    case_id = f"{EDGES}::unused input"
    lost = compared("b", Verdict.DISCONNECTED, (2,), errors=None)
    known = case(case_id, expect={"b": Verdict.DISCONNECTED}, reason="b is not used")
    return Result(case_id, Verdict.DISCONNECTED, (compared("a"), lost), seconds=0.02, case=known)


def one_input_not_as_expected() -> Result:
    case_id = f"{EDGES}::used input"
    known = case(case_id, expect={"b": Verdict.DISCONNECTED}, reason="b is not used")
    both = (compared("a"), compared("b"))
    return Result(case_id, Verdict.PASS, both, seconds=0.02, case=known)


def close_up(index: tuple[int, ...] = (1,), *, slopes: tuple[float, float] = (2.0, 2.0)) -> CloseUp:
    """A function around one element: smooth, or with another slope on either side."""
    steps = tuple(0.5 * 4.0**-i for i in range(12))
    left, right = slopes
    return CloseUp(
        index=index,
        imaginary=False,
        analytic=-2.0,
        numeric=(left + right) / 2,
        bound=1e-12,
        chosen=steps[3],
        steps=steps,
        errors=tuple(step**2 + 1e-16 / step for step in steps),
        right=tuple(right * step for step in steps),
        left=tuple(-left * step for step in steps),
    )


def pictured() -> Result:
    """A wrong gradient with all that a picture can be made of."""
    case_id = f"{MATMUL}::pictured"
    numeric = np.linspace(-2.0, 2.0, 72).reshape(6, 12)
    wrong = compared(
        "x",
        Verdict.MISMATCH,
        (6, 12),
        errors=(4.0, 2.0, 1e-12),
        worst=(Element((0, 1), 0.5, 2.0, -2.0, 1e-12),),
        failing=12,
    )
    analytic = numeric.copy()
    analytic[0] *= -1
    wrong = replace(
        wrong,
        analytic=analytic,
        numeric=numeric,
        bound=np.full((6, 12), 1e-12),
        close_up=close_up((0, 1)),
        jacobian=("+0-", "00?"),
    )
    return Result(case_id, Verdict.MISMATCH, (wrong,), seconds=0.02, case=case(case_id))


def pictured_kink() -> Result:
    """A kink that was looked at closely."""
    case_id = f"{EDGES}::pictured kink"
    element = Element((1,), 0.0, 0.5, 0.5, 1e-12, left=-1.0, right=2.0)
    bent = compared("x", Verdict.KINK, (3,), errors=(0.0, 0.0, 1e-12), worst=(element,))
    bent = replace(bent, close_up=close_up(slopes=(-1.0, 2.0)))
    return Result(case_id, Verdict.KINK, (bent,), seconds=0.01, case=case(case_id))


PROBLEM = SpecProblem(
    message="unknown key 'shpae'",
    location=Location("specs/broken.yaml", 4, 7),
    hint="did you mean 'shape'?",
    source="      shpae: [3, 4]",
    length=5,
)


def all_results() -> list[Result]:
    return [
        passing(),
        mismatch(),
        complex_mismatch(),
        disconnected(),
        nonfinite(),
        kink(),
        broken_kink(),
        inconclusive(),
        error(),
        crashed(),
        timeout(),
        skipped(),
        known_bug(),
        bug_gone(),
        one_input_as_expected(),
        one_input_not_as_expected(),
    ]


def plan_of(
    results: Iterable[Result],
    problems: tuple[SpecProblem, ...] = (),
    environment: Mapping[str, str] = ENVIRONMENT,
) -> Plan:
    cases = tuple(result.case for result in results if result.case)
    return Plan(cases=cases, problems=problems, environment=environment)


def summary_of(
    results: Iterable[Result], *, problems: int = 0, interrupted: bool = False
) -> Summary:
    results = list(results)
    return Summary(
        total=len(results),
        verdicts=Counter(result.verdict for result in results),
        failed=sum(not result.expected for result in results),
        known=sum(result.expected and not result.verdict.acceptable for result in results),
        problems=problems,
        seconds=3.21,
        interrupted=interrupted,
    )


def tell(
    reporter: Reporter,
    results: Iterable[Result],
    problems: tuple[SpecProblem, ...] = (),
    environment: Mapping[str, str] = ENVIRONMENT,
) -> None:
    """A whole run, told to the reporter."""
    results = list(results)
    reporter.start(plan_of(results, problems, environment))
    for result in results:
        reporter.result(result)
    reporter.finish(summary_of(results, problems=len(problems)))


class Terminal:
    """A stream that says that somebody looks at it."""

    encoding = "utf-8"

    def __init__(self, below: TextIO) -> None:
        self._below = below

    def write(self, text: str) -> int:
        return self._below.write(text)

    def flush(self) -> None:
        self._below.flush()

    def isatty(self) -> bool:
        return True
