"""All the reporters of a run, spoken to as one."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Self

from gradcheck.cli.outputs import Destination, OutputFile
from gradcheck.report import Reporter, make_reporter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from gradcheck.model import Plan, Result, Summary


class Audience:
    """Opens the outputs, tells every reporter what happens, and puts the files in their place.

    A reader that goes away (`| head`) takes its reporter along; the reports in files still come.
    When nobody listens any more, BrokenPipeError ends the run.
    """

    def __init__(
        self, destinations: Sequence[Destination], *, verbose: bool, durations: int | None
    ) -> None:
        self._files: list[OutputFile] = []
        self._reporters: list[Reporter] = []
        with contextlib.ExitStack() as undo:
            undo.callback(self._discard)
            for destination in destinations:
                if destination.path is None:
                    stream = sys.stdout
                else:
                    self._files.append(OutputFile(destination.path))
                    stream = self._files[-1].stream
                reporter = make_reporter(
                    destination.format, stream, verbose=verbose, durations=durations
                )
                self._reporters.append(reporter)
            undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._discard()

    def start(self, plan: Plan) -> None:
        """Before the first result."""
        self._tell(lambda reporter: reporter.start(plan))

    def result(self, result: Result) -> None:
        """A result, in any order."""
        self._tell(lambda reporter: reporter.result(result))

    def finish(self, summary: Summary) -> None:
        """After the last result: the reports are written."""
        self._tell(lambda reporter: reporter.finish(summary))
        for file in self._files:
            file.commit()

    def _tell(self, what: Callable[[Reporter], None]) -> None:
        for reporter in tuple(self._reporters):
            try:
                what(reporter)
            except BrokenPipeError:
                self._reporters.remove(reporter)
                if not self._reporters:
                    raise

    def _discard(self) -> None:
        for file in self._files:
            file.discard()
