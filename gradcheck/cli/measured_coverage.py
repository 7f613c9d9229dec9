"""What specs cover, measured: their cases run, or a report that tells what they went through."""

from __future__ import annotations

import contextlib
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.cli import options
from gradcheck.errors import GradcheckError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Case, Result, SpecProblem
    from gradcheck.model.inventories import Inventory
    from gradcheck.report.formats.coverage_report import CoverageOutcome
    from gradcheck.spec.settings import Settings


class NothingSelectedError(UsageError):
    """There is no case to run: the text says why."""


def of_specs(
    paths: Sequence[str],
    settings: Settings,
    *,
    expression: str,
    jobs: int | None,
    seed: int | None,
) -> CoverageOutcome:
    """Run the cases of these paths; NothingSelectedError where there are none.

    Args:
        paths: files, folders and cases.
        settings: of the project.
        expression: which of the cases.
        jobs: how many workers; None for what the project says.
        seed: for what is drawn; None for what the project says.
    """
    from gradcheck.run import compile_selector
    from gradcheck.spec import load

    started = time.perf_counter()
    selected = compile_selector(expression)
    loaded = load(
        paths,
        allow=settings.allow,
        seed=settings.seed if seed is None else seed,
        budget=settings.budget,
        max_cases=settings.max_cases,
    )
    cases = [case for case in loaded.cases if selected(case)]
    if not cases and not loaded.problems:
        raise NothingSelectedError(options.nothing_selected(expression, len(loaded.cases)))
    at = {"allow": settings.allow, "root": str(settings.root)}
    timeout = settings.timeout
    results, interrupted = _run(cases, timeout, jobs=jobs or settings.jobs, **at)
    return _outcome(results, loaded.problems, started, interrupted=interrupted)


def of_report(file: str) -> CoverageOutcome:
    """What a JSON report tells; UsageError where it does not say what its cases went through."""
    from gradcheck.report.read.json_reader import read_report

    report = read_report(Path(file))
    if report.results and all(result.called is None for result in report.results):
        raise UsageError(
            f"{file}: does not say which gradient functions its cases called: it is of an older "
            "gradcheck, or of another format; `gradcheck run --format json` writes one that does"
        )
    started = time.perf_counter()
    return _outcome(report.results, report.problems, started, interrupted=report.interrupted)


def _run(
    cases: Sequence[Case], timeout: float | None, **settings: Any
) -> tuple[list[Result], bool]:
    """The results in the order of the cases, and whether Ctrl-C came before the last."""
    from gradcheck.run import check_with_tensorflow, run
    from gradcheck.run.case_time import DEFAULT_TIMEOUT

    check = partial(check_with_tensorflow, called=True)
    results: dict[str, Result] = {}
    interrupted = False
    with contextlib.ExitStack() as stack:
        live = None
        if sys.stderr.isatty():
            from gradcheck.report.formats.progress import LiveBar
            from gradcheck.report.formats.table import open_console

            live = LiveBar(open_console(sys.stderr), len(cases))
            live.start()
            stack.callback(live.stop)
        try:
            stream = run(cases, timeout=timeout or DEFAULT_TIMEOUT, check=check, **settings)
            with contextlib.closing(stream):
                for result in stream:
                    results[result.id] = result
                    if live is not None:
                        live.advance(failed=not result.expected)
        except KeyboardInterrupt:
            interrupted = True
    return [results[case.id] for case in cases if case.id in results], interrupted


def _inventory() -> Inventory:
    """What TensorFlow registers, as a worker finds it."""
    from gradcheck.checker.coverage.inventory import inventory_case, take_inventory
    from gradcheck.model.inventories import Inventory
    from gradcheck.run import run

    (found,) = run([inventory_case()], check=take_inventory, jobs=1, allow=(), root=str(Path.cwd()))
    if not isinstance(found, Inventory) or found.message:
        raise GradcheckError(f"TensorFlow's gradients cannot be listed: {found.message}")
    return found


def _outcome(
    results: Sequence[Result],
    problems: Sequence[SpecProblem],
    started: float,
    *,
    interrupted: bool,
) -> CoverageOutcome:
    from gradcheck.report.coverage_totals import (
        covered_functions,
        covered_gradients,
        foreign_gradients,
        has_gradient,
        has_verdict,
    )
    from gradcheck.report.formats.coverage_report import CoverageOutcome
    from gradcheck.spec.expression.public_functions import (
        named_functions,
        public_functions,
        unknown_functions,
    )

    inventory = _inventory()
    named = {r.id: named_functions(r.case.target) if r.case else frozenset() for r in results}
    # (Where a case is about one function alone, and its tape has a gradient, that one has it.)
    seen = {n for r in results if has_gradient(r) and len(named[r.id]) == 1 for n in named[r.id]}
    seen &= unknown_functions()
    judged = list(filter(has_verdict, results))
    return CoverageOutcome(
        gradients=tuple(covered_gradients(inventory.gradients, results)),
        functions=tuple(covered_functions(public_functions(seen), named, results)),
        unknown=len(unknown_functions() - seen),
        no_gradient=len(inventory.no_gradient),
        foreign=tuple(foreign_gradients(inventory.gradients, results)),
        cases=len(results),
        judged=len(judged),
        unrecorded=sum(result.called is None for result in judged),
        problems=tuple(problems),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
    )
