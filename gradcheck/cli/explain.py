"""`gradcheck explain`: where a gradient comes from, and the proof that it is right."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from gradcheck.cli import options
from gradcheck.cli.explain_formats import FORMATS, rendered
from gradcheck.cli.explain_values import (
    begins_with_minus,
    literal,
    pairs,
    shape_of,
    values_of,
)
from gradcheck.cli.guessed_case import with_guess
from gradcheck.cli.say import say_json, say_styled
from gradcheck.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.explainer.compose import Question
    from gradcheck.model import Array, Shape
    from gradcheck.ops.declaration import Op


class _TakesExpressions(click.Command):
    """What begins with a minus and is an expression is no option: `-tf.sin(x)`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, an expression in the place of a name among them."""
        known = {name: option for option in self.params for name in option.opts}
        place, found = 0, None
        while place < len(args) and args[place] != "--":
            word = args[place]
            if word not in known and begins_with_minus(word):
                found = place
                break
            option = known.get(word)
            takes = isinstance(option, click.Option) and not option.is_flag
            place += 2 if takes else 1
        if found is not None:
            args = [*args[:found], *args[found + 1 :], "--", args[found]]
        return super().parse_args(ctx, args)


@click.command(name="explain", cls=_TakesExpressions)
@click.argument("name", required=False)
@click.option("--expr", metavar="TEXT", help="Explain an expression of TensorFlow calls.")
@click.option(
    "--function", metavar="PKG:NAME", help="Explain a function of yours, which is run once."
)
@click.option(
    "--layer", metavar="CLASS", help="Explain a layer, of Keras' or yours (PKG:NAME); it is made."
)
@click.option(
    "--arg",
    "args",
    multiple=True,
    metavar="NAME=VALUE",
    help="An argument of the op, function or class.",
)
@click.option("--shape", "shapes", multiple=True, metavar="NAME=3,4", help="An input's shape.")
@click.option(
    "--at", multiple=True, metavar="NAME=[[1,2]]", help="An input's value (or G's): adds numbers."
)
@click.option(
    "--verify", is_flag=True, help="Evaluate the formulas against the tape and differences."
)
@click.option("--forward", is_flag=True, help="Derive forward mode too: ẏ = J ẋ.")
@click.option("--second", is_flag=True, help="Derive the Hessian times a direction too.")
@options.allow
@click.option(
    "--format",
    "style",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How it is set; html is a page and svg a picture, for a file.",
)
def command(
    name: str | None,
    expr: str | None,
    function: str | None,
    layer: str | None,
    args: tuple[str, ...],
    shapes: tuple[str, ...],
    at: tuple[str, ...],
    verify: bool,
    forward: bool,
    second: bool,
    allow: tuple[str, ...],
    style: str,
) -> int:
    """Show where the gradient of an op, an expression, a function or a layer comes from.

    NAME is an op, a TensorFlow name, a case of a spec, or an expression as for --expr.
    Without it the ops are listed.
    A function, a layer and a case of these are run once, and every op in them is a step.

    \b
    Examples:
      gradcheck explain matmul
      gradcheck explain matmul --arg transpose_b=true --verify
      gradcheck explain einsum --arg equation='ijk,ikl->ijl'
      gradcheck explain add --shape x=3,4 --shape y=4
      gradcheck explain --expr 'tf.reduce_sum(tf.square(x))' --at x='[1, 2]'
      gradcheck explain specs/linalg/matmul.yaml::transposed-a --format latex
      gradcheck explain softmax --format html > softmax.html
      gradcheck explain --function mypkg.losses:focal --shape logits=4,3 --verify
      gradcheck explain tf.linalg.svd
      gradcheck explain softmax --second --verify
      gradcheck explain --expr 'tf.sin(x) * y' --shape x=3 --shape y=3 --forward
      gradcheck explain --layer keras.layers.Dense --arg units=2 --shape x=2,3
    """  # noqa: D301  (click reads the \b)
    given = _given(args, shapes, at)
    if name is None and expr is None and function is None and layer is None:
        _list_ops(style)
        return 0
    from gradcheck.explainer.compose import Question, answer, answering
    from gradcheck.explainer.question import as_named

    question = Question(
        *(name, expr, *given, verify, function, layer, allow),
        forward=forward,
        second=second,
    )
    question = with_guess(as_named(question))
    with answering(verify=question.runs):
        document, proofs = answer(question)
        text = rendered(document, style)
    (say_json if style == "json" else say_styled)(text)
    return int(ExitCode.OK if all(proof.holds for proof in proofs) else ExitCode.FAILED)


def asked(words: list[str]) -> Question:
    """What `gradcheck explain` is asked by these words: a lesson shows a part of the answer."""
    from gradcheck.explainer.compose import Question

    # (A command keeps the option for help that it was first asked with: it must be everybody's.)
    names = ["-h", "--help"]
    with command.make_context("explain", words, help_option_names=names) as context:
        found = context.params
    given = _given(found["args"], found["shapes"], found["at"])
    return Question(found["name"], found["expr"], *given)


def _given(
    args: tuple[str, ...], shapes: tuple[str, ...], at: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Shape], dict[str, Array]]:
    """Arguments, shapes and values, by name."""
    wanted = {key: shape_of(key, text) for key, text in pairs(shapes, "--shape")}
    literals = {key: literal(text) for key, text in pairs(args, "--arg")}
    return literals, wanted, values_of(at)


def _list_ops(style: str) -> None:
    from gradcheck import ops

    if style == "json":
        import json

        rows = [{"op": o.name, "family": o.family, "summary": o.summary} for o in ops.all_ops()]
        say_json(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    say_styled("\n".join(_listing(ops.all_ops())))


def _listing(ops: tuple[Op, ...]) -> Iterator[str]:
    from gradcheck.explainer import Subject, make_call, one_line
    from gradcheck.explainer.style import UNICODE

    width = max(len(op.name) for op in ops)
    for family, members in groupby(sorted(ops, key=lambda op: op.family), lambda op: op.family):
        yield click.style(family, bold=True)
        for op in members:
            line = one_line(Subject(op, make_call(op, {}, {})), UNICODE)
            yield f"  {op.name:{width}}  {line}"
        yield ""
    yield f"{len(ops)} ops; `gradcheck explain NAME` derives one, `gradcheck guide` is a course"
