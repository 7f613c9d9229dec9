"""All the reporters of a run, told everything together."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from gradcheck.cli.outputs import Destination, OutputFile
from gradcheck.errors import GradcheckError
from gradcheck.report import Reporter, make_reporter
from gradcheck.report.background import NO_BACKGROUND, Background

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from gradcheck.model import Plan, Result, Summary


class OutputLostError(GradcheckError):
    """A report could not be written to its end."""


@dataclass(frozen=True, slots=True, eq=False)
class _Output:
    """A reporter, and the file it writes to; None for the screen."""

    reporter: Reporter
    file: OutputFile | None
    place: str

    def commit(self) -> None:
        if self.file is not None:
            self.file.commit()


class Reporters:
    """Opens the outputs, tells every reporter what happens, and puts the files in their place.

    A reader that goes away (`| head`) takes its reporter along; the reports in files still come.
    When nobody listens any more, BrokenPipeError ends the run. A report that cannot be written,
    for want of disk space, is told at the end, after all the others are in their place.
    """

    def __init__(
        self,
        destinations: Sequence[Destination],
        *,
        verbose: bool,
        durations: int | None,
        header: bool = True,
        background: Background = NO_BACKGROUND,
    ) -> None:
        self._outputs: list[_Output] = []
        self._lost: list[str] = []
        with contextlib.ExitStack() as undo:
            for destination in destinations:
                file = None if destination.path is None else OutputFile(destination.path)
                if file is not None:
                    undo.callback(file.discard)
                stream = sys.stdout if file is None else file.stream
                reporter = make_reporter(
                    destination.format,
                    stream,
                    verbose=verbose,
                    durations=durations,
                    # (A file is no screen, whatever FORCE_COLOR says.)
                    color=None if file is None else False,
                    header=header,
                    background=background,
                )
                self._outputs.append(_Output(reporter, file, str(destination.path or "the screen")))
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
        self._tell(lambda output: output.reporter.start(plan))

    def result(self, result: Result) -> None:
        """A result, in any order."""
        self._tell(lambda output: output.reporter.result(result))

    def finish(self, summary: Summary) -> None:
        """After the last result: the reports are written; OutputLostError if one could not be."""
        self._tell(lambda output: output.reporter.finish(summary))
        self._tell(_Output.commit)
        if self._lost:
            raise OutputLostError("\n".join(self._lost))

    def _tell(self, what: Callable[[_Output], None]) -> None:
        for output in tuple(self._outputs):
            try:
                what(output)
            except BrokenPipeError:
                self._leave(output)
                if not self._outputs:
                    raise
            except OSError as error:
                self._leave(output)
                self._lost.append(
                    f"the report to {output.place} is lost: {error.strerror or error}"
                )

    def _leave(self, output: _Output) -> None:
        self._outputs.remove(output)
        if output.file is not None:
            output.file.discard()

    def _discard(self) -> None:
        for output in self._outputs:
            if output.file is not None:
                output.file.discard()
