"""Specs as pytest sees them: a file is a collector, a case is an item with gradcheck's own id."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.errors import GradcheckError, SpecError
from gradcheck.model import Plan, Verdict
from gradcheck.report.columns import failure_text
from gradcheck.report.details import failure_details, gist
from gradcheck.report.safe_text import clean, defused, one_line
from gradcheck.spec import load
from gradcheck.spec.settings import Settings, read_settings
from gradcheck.testing.run_case import Here, Isolated, Runner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gradcheck.model import Case, Expectation, Result

MARK = "gradcheck"
"""The marker of every case."""
ISOLATE = "gradcheck_isolate"
"""The option, and the setting of the same name."""

_SETTINGS = pytest.StashKey[Settings]()
_RUNNER = pytest.StashKey[Runner]()
_MARKS = pytest.StashKey[dict[str, bool]]()


class ToldError(Exception):
    """Ends a case, or the reading of a spec, with a text that is to be shown as it is."""

    def __init__(self, text: str, gist: str, line: int) -> None:
        super().__init__(defused(clean(text)))
        self.gist = one_line(gist)
        """The text in one line, for pytest's summary."""
        self.line = line
        """Of the spec."""


class KnownBugError(ToldError):
    """A case has the verdict that it expects, and would fail if it did not expect it."""


class SpecFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[CaseItem]:
        """The cases; all that is wrong in the file is one error."""
        try:
            settings = _settings(self.config)
            loaded = load(
                [str(self.path)],
                allow=settings.allow,
                seed=settings.seed,
                budget=settings.budget,
                max_cases=settings.max_cases,
            )
            if loaded.problems:
                raise SpecError(loaded.problems)
        except SpecError as error:
            text = "\n\n".join(str(problem.without_options()) for problem in error.problems)
            line = error.problems[0].location.line
            raise ToldError(text, text.partition("\n")[0], line) from None
        except GradcheckError as error:
            raise ToldError(str(error), str(error).partition("\n")[0], 1) from None
        for case in loaded.cases:
            yield CaseItem.from_parent(self, name=case.id.partition("::")[2], case=case)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong in the spec: the place, the line with a caret, what would be right."""
        del style  # (a collector has none to choose)
        return _told(excinfo, self.path) or super().repr_failure(excinfo)


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, **rest: Any) -> None:
        super().__init__(**rest)
        self.case = case
        self.add_marker(MARK)
        for tag in case.tags:
            self.extra_keyword_matches.add(tag)
            if _may_mark(self.config, tag):
                self.add_marker(tag)
        if known := _known_bug(case.expect):
            reason = f"{known}: {case.reason}" if case.reason else known
            # Raised where the verdict is the expected one: all else is a failure.
            self.add_marker(pytest.mark.xfail(reason=reason, raises=KnownBugError, strict=True))

    def setup(self) -> None:
        """Load TensorFlow before the first case: that is no part of its time."""
        with self._told_as_it_is():
            _runner(self.config).prepare()

    def runtest(self) -> None:
        """Check the case; an exception where it is not as it should be."""
        with self._told_as_it_is():
            result = _runner(self.config).run(self.case)
        result = replace(result, case=self.case)
        self.user_properties.append(("verdict", str(result.verdict)))
        if not result.expected:
            raise _failure(ToldError, result)
        if result.verdict is Verdict.SKIPPED:
            _skip(result.message)
        if not result.verdict.acceptable:
            # Shown with --runxfail, which has it reported as if nothing were expected.
            raise _failure(KnownBugError, replace(result, case=replace(self.case, expect=None)))
        self.add_report_section("call", "gradcheck", str(result))

    @contextlib.contextmanager
    def _told_as_it_is(self) -> Iterator[None]:
        """What is not the case's own: no worker could be had, or a setting is wrong."""
        try:
            yield
        except GradcheckError as error:
            text = f"{self.case.id}: {error}"
            raise ToldError(text, str(error), self.case.location.line) from None

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What the command prints of the failure, in place of a traceback."""
        return _told(excinfo, self.path) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands, and its name."""
        return self.path, self.case.location.line - 1, self.name


def close(config: pytest.Config) -> None:
    """End the workers of a run, where there are any."""
    runner = config.stash.get(_RUNNER, None)
    if runner is not None:
        runner.close()


def _settings(config: pytest.Config) -> Settings:
    """Those of the project, as the command finds them: from the folder that it is called in."""
    if _SETTINGS not in config.stash:
        config.stash[_SETTINGS] = read_settings(config.invocation_params.dir)
    return config.stash[_SETTINGS]


def _runner(config: pytest.Config) -> Runner:
    if _RUNNER not in config.stash:
        isolate = config.getoption(ISOLATE) or config.getini(ISOLATE)
        kind = Isolated if isolate else Here
        config.stash[_RUNNER] = kind(_settings(config))
    return config.stash[_RUNNER]


def _may_mark(config: pytest.Config, tag: str) -> bool:
    """Whether a tag becomes a marker; it is then registered, for `--strict-markers`.

    A marker that takes arguments (`skip`, `xfail`, `timeout`) does something: no tag does.
    """
    known = config.stash.setdefault(_MARKS, {})
    if tag not in known:
        heads = [line.partition(":")[0] for line in config.getini("markers")]
        taken = {head.partition("(")[0].strip(): "(" in head for head in heads}
        known[tag] = not (tag.startswith("_") or taken.get(tag))
        if known[tag] and tag not in taken:
            config.addinivalue_line("markers", f"{tag}: a tag of gradcheck specs")
    return known[tag]


def _known_bug(expect: Expectation) -> str:
    """What a case expects that would otherwise be a failure, in words."""
    if expect is None or isinstance(expect, Verdict):
        return "" if expect is None or expect.acceptable else str(expect)
    wrong = {name: verdict for name, verdict in expect.items() if not verdict.acceptable}
    return ", ".join(f"{verdict} for {name}" for name, verdict in wrong.items())


def _failure(kind: type[ToldError], result: Result) -> ToldError:
    details = failure_details(result, Plan((), (), {}))
    told = gist(details) if details.headline else f"{result.verdict}: {gist(details)}"
    line = result.case.location.line if result.case else 1
    return kind(failure_text(details), told, line)


def _skip(reason: str) -> None:
    skipped = pytest.skip.Exception(reason)
    # The place that pytest tells is then that of the case, and not this one.
    skipped._use_item_location = True
    raise skipped


def _told(excinfo: pytest.ExceptionInfo[BaseException], path: Path) -> Any:
    """The text of a ToldError as pytest shows a failure; None for any other exception."""
    error = excinfo.value
    if not isinstance(error, ToldError):
        return None
    shown = excinfo.getrepr(style="value", chain=False)
    if shown.reprcrash is not None:
        # For the line in the summary, for JUnit, and for who reads the report of a run.
        shown.reprcrash.message = error.gist
        shown.reprcrash.path, shown.reprcrash.lineno = str(path), error.line
    return shown
