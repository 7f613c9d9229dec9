"""`gradcheck hunt`: wrong gradients that nobody pointed at."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradcheck.cli import options
from gradcheck.cli.say import say, say_progress
from gradcheck.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.hunter.ledger import Finding, Ledger
    from gradcheck.hunter.quarry import Quarry

TELL_SECONDS = 30.0
"""Seconds between two lines of progress, where there is no terminal to write over."""
LIVE_SECONDS = 0.2


@click.command(name="hunt")
@click.argument("targets", metavar="TARGET...", nargs=-1)
@click.option("--minutes", type=click.FloatRange(min=0.0), default=10.0, show_default=True,
              help="How long to look for new calls.")  # fmt: skip
@click.option("--output", metavar="FOLDER", default="hunted", show_default=True,
              help="Where findings and the state go; a hunt that is there goes on.")  # fmt: skip
@click.option(
    "--seed", type=options.WholeNumber(min=0), default=0, help="Of what is drawn. Default: 0."
)
@click.option("--calls", metavar="FILE",
              help="Calls to begin with: a YAML or JSON list of cases.")  # fmt: skip
@options.jobs
@options.allow
def command(
    targets: tuple[str, ...],
    minutes: float,
    output: str,
    seed: int,
    calls: str | None,
    jobs: int | None,
    allow: tuple[str, ...],
) -> int:
    """Look for wrong gradients in functions, modules and packages.

    TARGET is an op that `gradcheck ops` lists, a function (tf.linalg.det, tf.raw_ops.Xlogy,
    mypackage.module:f), a module (tf.math, tf.raw_ops, keras.layers), an allowed package, `ops`
    for all declared ops, or `all`. Calls are drawn from what each of them takes: shapes, types,
    arguments, special points. Each is checked eagerly by the tape, then in graphs, by XLA, in
    forward mode and to the second order.

    What fails is traced to the op to blame, told apart from what is known, made small, shown again
    by a program in plain TensorFlow, and written down: a spec that expects it, and that program.
    The hunt can be interrupted and goes on when it is called again.

    \b
    Examples:
      gradcheck hunt tf.linalg --minutes 5
      gradcheck hunt tf.raw_ops.Cumprod --minutes 0.1
      gradcheck hunt mypackage --allow mypackage
      gradcheck hunt all --minutes 60 --output bugs && gradcheck run bugs

    The exit code is 0 when nothing was found, 1 when something was, 2 for wrong usage.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.run import cores, in_a_command, warm_up

    if not targets and calls is None:
        raise UsageError("what is to be hunted? As in: gradcheck hunt tf.linalg --minutes 5")
    click.get_current_context().with_resource(in_a_command())
    warm_up()

    return _hunt(targets, minutes, Path(output), seed, calls, jobs or cores(), allow)


def _hunt(
    targets: tuple[str, ...],
    minutes: float,
    output: Path,
    seed: int,
    calls: str | None,
    jobs: int,
    allow: tuple[str, ...],
) -> int:
    from gradcheck.hunter.errands import Hunt
    from gradcheck.hunter.expedition import Expedition
    from gradcheck.hunter.ledger import Ledger
    from gradcheck.hunter.quarry import find_quarry
    from gradcheck.hunter.recorded import read_calls
    from gradcheck.run.environment import describe
    from gradcheck.spec.settings import read_settings

    settings = read_settings(Path.cwd(), allow=allow)
    root = str(settings.root)
    known = read_calls(Path(calls), settings.allow) if calls is not None else {}
    quarries = find_quarry((*targets, *known), allow=settings.allow, root=root)
    ledger = Ledger.open(output, seed)
    for name, drafts in known.items():
        ledger.calls[name] = [*drafts, *ledger.calls.get(name, [])]
    before = len(ledger.findings)
    telling = _Telling(ledger, quarries)
    # (Who names a function of their own allows its package.)
    packages = [q.name.partition(":")[0].partition(".")[0] for q in quarries if ":" in q.name]
    allowed = tuple(dict.fromkeys([*settings.allow, *packages]))
    version = describe().get("tensorflow", "")
    hunt = Hunt(ledger, allowed, root, version, found=telling.found)
    interrupted = False
    try:
        Expedition(hunt, quarries, jobs).run(60.0 * minutes, telling.progress)
    except KeyboardInterrupt:
        interrupted = True
    telling.end(before)
    if interrupted:
        return ExitCode.INTERRUPTED
    return ExitCode.FAILED if len(ledger.findings) > before else ExitCode.OK


class _Telling:
    """What a person sees: a line of what was looked at, and each finding as it comes."""

    def __init__(self, ledger: Ledger, targets: Sequence[Quarry]) -> None:
        self._ledger, self._targets = ledger, [quarry.name for quarry in targets]
        self._live = sys.stderr.isatty()
        self._next = 0.0 if self._live else time.monotonic() + TELL_SECONDS
        self._cases = ledger.cases
        say(
            f"hunting in {_many(len(targets), 'target')}; findings go to {ledger.folder}"
            + (f", which has {_many(len(ledger.findings), 'finding')} already"
               if ledger.findings else ""),
            err=True,
        )  # fmt: skip

    def progress(self, seconds: float) -> None:
        """Say how far it is, now and then."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (LIVE_SECONDS if self._live else TELL_SECONDS)
        visited = sum(self._ledger.arms[name].visits > 0 for name in self._targets)
        cases = self._ledger.cases - self._cases
        text = (
            f"{_clock(seconds)}  {visited} of {len(self._targets)} targets visited, {cases} cases "
            f"({cases / max(seconds, 0.1):.0f}/s), {_many(len(self._ledger.findings), 'finding')}"
        )
        if self._live:
            say_progress(text)
        else:
            say(text, err=True)

    def found(self, finding: Finding) -> None:
        """Say what was found."""
        if self._live:
            say_progress("")
        # (That none is registered does not depend on how it is asked for.)
        told = finding.kind != "missing-gradients"
        where = [finding.mode, finding.check, finding.dtype] if told else []
        more = " ".join(text for text in where if text not in ("eager", "reverse", "real"))
        about = f"{finding.kind}: {finding.blamed}{f' ({more})' if more else ''}"
        say(f"{about}\n    {finding.told}\n    {self._ledger.folder / finding.spec}")

    def end(self, before: int) -> None:
        """Say what came of it, and what to do next."""
        if self._live:
            say_progress("")
        ledger = self._ledger
        new = ledger.findings[before:]
        kinds = Counter(finding.kind for finding in new)
        counted = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        cases = ledger.cases - self._cases
        what = f"{_many(len(new), 'new finding')}{f' ({counted})' if new else ''}"
        say(f"\n{what} in {cases} cases of {_many(len(self._targets), 'target')}")
        for name, error in list(ledger.own_errors.items())[:3]:
            say(f"note: {name} could not be looked at: {' '.join(error.split())[:200]}", err=True)
        if ledger.findings:
            say(f"next:\n  gradcheck run {ledger.folder}    is green while all is as it was found")


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
