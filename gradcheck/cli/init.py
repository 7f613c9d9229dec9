"""`gradcheck init`: a package's first specs, settings and CI job."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradcheck.cli.new_files import NewFiles
from gradcheck.cli.say import say, say_progress
from gradcheck.errors import ExitCode
from gradcheck.report.numbers import count

if TYPE_CHECKING:
    from gradcheck.start.project import Project
    from gradcheck.start.spec_files import SpecDraft
    from gradcheck.start.survey import Survey

MOST_REASONS = 20
"""Lines of a list that are printed; the specs have all of them, as comments."""


@click.command(name="init")
@click.argument("package", required=False)
def command(package: str | None) -> int:
    """Look at your package, and write specs for what has a gradient.

    Finds the functions with @tf.custom_gradient, the Keras layers and losses and the functions of
    tensors in PACKAGE, by default the project's own. Looks for shapes by calling them, writes a
    spec for each module into specs/, allows the package in pyproject.toml, adds a job for GitHub's
    CI, and runs the specs once. To look at a package is to import it, which runs its code: that is
    done in worker processes, and a crash costs one candidate. No file is overwritten; what has a
    spec already is left alone.

    \b
    Examples:
      gradcheck init
      gradcheck init mypackage.layers

    The exit code is that of the run: 0 when all gradients are right, 1 when one is wrong; 2 for
    wrong usage, 5 when nothing with a gradient was found.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.run import in_a_command, warm_up
    from gradcheck.spec.settings import read_settings
    from gradcheck.start.project import Project

    project = Project.find(Path.cwd(), package)
    settings = read_settings(project.root)
    folder = next((Path(p) for p in settings.specs if Path(p).is_dir()), project.root / "specs")
    folder = Path.cwd() / folder
    names = ", ".join(project.packages)
    say(f"looking at {names}: its modules are imported in worker processes, which runs their code")
    click.get_current_context().with_resource(in_a_command())
    warm_up()
    found = _surveyed(project, folder)
    if not found.tried:
        return _nothing_new(found, names)
    return _write_and_run(project, folder, found)


def _surveyed(project: Project, folder: Path) -> Survey:
    from gradcheck.start.spec_files import SET_ASIDE, targets_of
    from gradcheck.start.survey import survey

    files = [p for end in (".yaml", ".yml", f".yaml{SET_ASIDE}") for p in folder.rglob(f"*{end}")]
    texts = (p.read_text(encoding="utf-8", errors="replace") for p in files if p.is_file())
    live = sys.stderr.isatty()

    def progress(text: str) -> None:
        if live:
            say_progress(text)

    found = survey(project, targets_of(texts), progress)
    if live:
        say_progress("")
    return found


def _nothing_new(found: Survey, names: str) -> int:
    next_ = "gradcheck new package.module:function    writes a spec for any function"
    if len(found.known) == 1:
        say(f"nothing to add: {found.known[0]}, all that has a gradient, has a spec already")
    elif found.known:
        say(f"nothing to add: all {len(found.known)} that have a gradient have a spec already")
    elif found.unreadable and not found.not_called:
        module, reason = found.unreadable[0]
        say(f"{module} cannot be imported, so that nothing with a gradient was found: {reason}")
        next_ = f"python -c 'import {module}'    shows the whole error; then: gradcheck init"
    else:
        kind = (
            "nothing with a gradient that a spec can name"
            if found.unnamed
            else ("nothing with a gradient")
        )
        say(f"{kind} was found in {names}")
    _tell_left_out(found)
    say(f"\nnext:\n  {next_}")
    return ExitCode.OK if found.known else ExitCode.NOTHING_SELECTED


def _write_and_run(project: Project, folder: Path, found: Survey) -> int:
    from gradcheck.spec.discover import shown_path
    from gradcheck.start.spec_files import module_specs

    files = NewFiles()
    drafts = module_specs(found.tried, folder)
    kept = sum(draft.cases for draft in drafts)
    say(f"found {count(len(found.tried), 'thing')} with a gradient; {kept} can be checked\n")
    written = [d for d in drafts if files.write(d.path, d.text, _counted(d))]
    files.allow(project.root / "pyproject.toml", project.packages)
    files.add_job(project, folder)
    for line in files.told():
        say(line)
    _tell_left_out(found)
    paths = [shown_path(str(draft.path)) for draft in written if draft.cases]
    code = _run(paths, project) if paths else int(ExitCode.NOTHING_SELECTED)
    _tell_next(code, shown_path(str(folder)))
    return code


def _counted(draft: SpecDraft) -> str:
    cases = count(draft.cases, "case") if draft.cases else ""
    left = f"{draft.left_out} left out, as comments" if draft.left_out else ""
    return ", ".join(filter(None, (cases, left)))


def _run(paths: list[str], project: Project) -> int:
    from gradcheck.cli.run import command as run
    from gradcheck.spec.settings import read_settings

    # (Where pyproject.toml could not be changed, the run is to work all the same.)
    allowed = read_settings(Path.cwd()).allow
    missing = [package for package in project.packages if package not in allowed]
    allow = [text for package in missing for text in ("--allow", package)]
    say(f"\n$ gradcheck run {' '.join([*paths, *allow])}")
    sys.stdout.flush()
    here = click.get_current_context()
    with run.make_context("run", [*paths, *allow], parent=here.parent) as context:
        return int(run.invoke(context) or 0)


def _tell_left_out(found: Survey) -> None:
    from gradcheck.start.spec_files import is_kept, why_left_out

    reasons = [(t.found.target, why_left_out(t)) for t in found.tried if not is_kept(t)]
    reasons += found.unreadable
    if reasons:
        say("\nleft out:")
    for target, reason in reasons[:MOST_REASONS]:
        say(f"  {target}: {reason}")
    if len(reasons) > MOST_REASONS:
        say(f"  and {len(reasons) - MOST_REASONS} more: the specs have them as comments")
    if found.unnamed:
        shown = ", ".join(found.unnamed[:MOST_REASONS])
        more = ", …" if len(found.unnamed) > MOST_REASONS else ""
        say(
            "\nchecked only by what calls them, since a spec cannot name what is private or has "
            f"other letters than a to z: {shown}{more}\n"
            "  a public name beside it, as in `swish = _swish`, lets a spec name it"
        )
    if found.not_called:
        many = len(found.not_called)
        shown = ", ".join(found.not_called[:5]) + (", …" if many > 5 else "")
        say(
            f"\nnot called, since nothing says that they take tensors and they may do anything: "
            f"{count(many, 'function')} ({shown})\n"
            f"  gradcheck new {found.not_called[0]}    tries one"
        )


def _tell_next(code: int, folder: str) -> None:
    lines = ["\nnext:"]
    if code == ExitCode.FAILED:
        lines.append("  read the failures above: a mismatch is a wrong gradient, or a wrong spec")
    lines += [
        f"  gradcheck run {folder + ' --watch':<30} runs again what you save",
        f"  gradcheck power {folder:<28} tells how wrong a gradient must be to be caught",
        "  commit the files above: the CI job then fails the day a gradient breaks",
    ]
    say("\n".join(lines))
