"""`gradcheck explain`: where a gradient comes from, and the proof that it is right."""

from __future__ import annotations

import ast
import difflib
import re
import shutil
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from gradcheck.errors import ExitCode, ExpressionError, SpecError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcheck.explain import Document
    from gradcheck.explain.proof import Proof
    from gradcheck.model import Array, Shape
    from gradcheck.ops.declaration import Op

_WORDS = {"true": True, "false": False, "none": None, "null": None}


@click.command(name="explain")
@click.argument("name", required=False)
@click.option("--expr", metavar="TEXT", help="Explain an expression of TensorFlow calls.")
@click.option("--arg", "args", multiple=True, metavar="NAME=VALUE", help="An argument of the op.")
@click.option("--shape", "shapes", multiple=True, metavar="NAME=3,4", help="An input's shape.")
@click.option(
    "--at", multiple=True, metavar="NAME=[[1,2]]", help="An input's value (or G's): adds numbers."
)
@click.option(
    "--verify", is_flag=True, help="Evaluate the formulas against the tape and differences."
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "markdown", "latex", "json"]),
    default="text",
    show_default=True,
)
def command(
    name: str | None,
    expr: str | None,
    args: tuple[str, ...],
    shapes: tuple[str, ...],
    at: tuple[str, ...],
    verify: bool,
    style: str,
) -> int:
    """Show where the gradient of an op or an expression comes from.

    NAME is an op, a TensorFlow name, or a case of a spec. Without it the ops are listed.

    \b
    Examples:
      gradcheck explain matmul
      gradcheck explain matmul --arg transpose_b=true --verify
      gradcheck explain einsum --arg equation='ijk,ikl->ijl'
      gradcheck explain add --shape x=3,4 --shape y=4
      gradcheck explain --expr 'tf.reduce_sum(tf.square(x))' --at x='[1, 2]'
      gradcheck explain specs/ops/matmul.yaml::transposed --format latex
    """  # noqa: D301  (click reads the \b)
    given = _values(at)
    wanted = {key: _shape(key, text) for key, text in _pairs(shapes, "--shape")}
    for key, value in given.items():
        if key != "G":
            wanted.setdefault(key, value.shape)
    literals = {key: _literal(text) for key, text in _pairs(args, "--arg")}
    if expr is not None:
        if name is not None or literals:
            raise UsageError("--expr stands by itself: no NAME and no --arg beside it")
        document, proofs = _expression(expr, wanted, given, verify, None)
    elif name is None:
        _list_ops(style)
        return 0
    elif "::" in name or name.endswith((".yaml", ".yml")):
        document, proofs = _case(name, given, verify)
    else:
        document, proofs = _op(name, wanted, literals, given, verify)
    click.echo(_rendered(document, style))
    return int(ExitCode.OK if all(proof.holds for proof in proofs) else ExitCode.FAILED)


def _rendered(document: Document, style: str) -> str:
    if style == "markdown":
        from gradcheck.explain.render.markdown import render_markdown

        return render_markdown(document)
    if style == "latex":
        from gradcheck.explain.render.latex import render_latex

        return render_latex(document)
    if style == "json":
        from gradcheck.explain.render.json import render_json

        return render_json(document)
    from gradcheck.explain.render.terminal import WIDEST, render_text

    width = shutil.get_terminal_size((WIDEST, 24)).columns
    return render_text(document, lambda text: click.style(text, bold=True), width)


def _op(
    name: str,
    shapes: Mapping[str, Shape],
    args: Mapping[str, Any],
    at: Mapping[str, Array],
    verify: bool,
) -> tuple[Document, list[Proof]]:
    from gradcheck import ops
    from gradcheck.explain import Subject, explain_op, make_call

    op = ops.find(name)
    if op is None:
        if re.fullmatch(r"tf\.raw_ops\.\w+", name):
            from gradcheck.explain.loading import load_quietly
            from gradcheck.explain.page.registered import explain_registered

            load_quietly()

            return explain_registered(name), []
        raise UsageError(f"no op {name!r} is declared: {_nearest(name)}")
    subject = Subject(op, make_call(op, shapes, args))
    document = explain_op(subject)
    proofs: list[Proof] = []
    if at:
        from gradcheck.explain.page.worked_numbers import op_numbers

        document = _with(document, op_numbers(subject, at))
    if verify:
        from gradcheck.explain.loading import load_quietly
        from gradcheck.explain.proof import proof_section
        from gradcheck.explain.verify import verify_op

        load_quietly()
        proofs = verify_op(subject, {k: v for k, v in at.items() if k != "G"})
        document = _with(document, proof_section(proofs))
    return document, proofs


def _expression(
    text: str,
    shapes: Mapping[str, Shape],
    at: Mapping[str, Array],
    verify: bool,
    wanted: tuple[str, ...] | None,
) -> tuple[Document, list[Proof]]:
    from gradcheck.explain.derive.read_graph import read_graph
    from gradcheck.explain.page.expression_page import explain_expression

    try:
        graph = read_graph(text, shapes)
    except ExpressionError as error:
        caret = " " * error.offset + "^" * max(1, error.length)
        flat = text.replace("\n", " ")
        hint = f"\n  = {error.hint}" if error.hint else ""
        if not shapes:
            hint = "\n  = give each input with --shape NAME=3,4 (a plain --shape NAME= is a number)"
        raise UsageError(f"{error}\n  {flat}\n  {caret}{hint}") from error
    document = explain_expression(graph, wanted)
    proofs: list[Proof] = []
    if at:
        from gradcheck.explain.page.worked_numbers import expression_numbers

        document = _with(document, expression_numbers(graph, at))
    if verify:
        from gradcheck.explain.loading import load_quietly
        from gradcheck.explain.proof import proof_section
        from gradcheck.explain.verify import verify_expression

        load_quietly()
        proofs = verify_expression(graph, {k: v for k, v in at.items() if k != "G"}, wanted=wanted)
        document = _with(document, proof_section(proofs))
    return document, proofs


def _case(name: str, at: Mapping[str, Array], verify: bool) -> tuple[Document, list[Proof]]:
    from gradcheck.model import TargetKind
    from gradcheck.spec import load

    loaded = load([name])
    if loaded.problems:
        raise SpecError(loaded.problems)
    case = loaded.cases[0]
    shapes = {given.name: tuple(given.shape) for given in case.inputs}
    if case.target.kind is TargetKind.OP:
        return _op(case.target.text, shapes, case.args, at, verify)
    if case.target.kind in (TargetKind.FUNCTION, TargetKind.LAYER):
        raise UsageError(
            f"a `{case.target.kind}:` is code of its own: only `op:` and `expr:` can be explained"
        )
    wanted = tuple(given.name for given in case.inputs if given.grad)
    values = {g.name: g.values for g in case.inputs if g.values is not None}
    complete = len(values) == len(case.inputs)
    shown = {**values, **at} if at or complete else {}
    return _expression(case.target.text, shapes, shown, verify, wanted)


def _with(document: Document, section: Any) -> Document:
    from dataclasses import replace

    return replace(document, sections=(*document.sections, section))


def _list_ops(style: str) -> None:
    from gradcheck import ops

    if style == "json":
        import json

        rows = [{"op": o.name, "family": o.family, "summary": o.summary} for o in ops.all_ops()]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    click.echo("\n".join(_listing(ops.all_ops())))


def _listing(ops: tuple[Op, ...]) -> Iterator[str]:
    from gradcheck.explain import Subject, make_call, one_line
    from gradcheck.explain.style import UNICODE

    width = max(len(op.name) for op in ops)
    for family, members in groupby(sorted(ops, key=lambda op: op.family), lambda op: op.family):
        yield click.style(family, bold=True)
        for op in members:
            line = one_line(Subject(op, make_call(op, {}, {})), UNICODE)
            yield f"  {op.name:{width}}  {line}"
        yield ""
    yield f"{len(ops)} ops; `gradcheck explain NAME` derives one"


def _nearest(name: str) -> str:
    from gradcheck import ops

    known = [key for op in ops.all_ops() for key in (op.name, op.tf, *op.aliases)]
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else "`gradcheck explain` lists them."


def _pairs(given: tuple[str, ...], option: str) -> list[tuple[str, str]]:
    pairs = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{option} takes NAME=VALUE, not {text!r}")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _literal(text: str) -> Any:
    """A value as a spec or Python writes it; what is neither is text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    if "..." in text:
        # An index, which is text here, and not a value of Python.
        return text
    return list(value) if isinstance(value, tuple) else value


def _shape(name: str, text: str) -> Shape:
    inner = text.strip("[]() ")
    try:
        sizes = tuple(int(part) for part in re.split(r"[,×\s]+|(?<=\d)x(?=\d)", inner) if part)
    except ValueError:
        raise UsageError(f"--shape {name}={text}: a shape is whole numbers, such as 3,4") from None
    if any(size < 0 for size in sizes):
        raise UsageError(f"--shape {name}={text}: sizes are not negative")
    return sizes


def _values(given: tuple[str, ...]) -> dict[str, Array]:
    import numpy as np

    found = {}
    for name, text in _pairs(given, "--at"):
        try:
            array = np.asarray(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            array = np.asarray(None)
        if array.dtype.kind not in "iufb":
            raise UsageError(f"--at {name}={text}: a value is numbers, such as [[1, 2], [3, 4]]")
        found[name] = array
    return {k: v.astype(np.float64) if k == "G" else v for k, v in found.items()}
