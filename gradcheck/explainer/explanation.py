"""`gradcheck.explain`: what the command of that name prints, as an object that displays itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ExplainError, UsageError
from gradcheck.explainer.compose import (
    Question,
    answer,
    answering,
    checked_shape,
    checked_value,
)
from gradcheck.explainer.render.html_page import render_page
from gradcheck.explainer.render.json import render_json
from gradcheck.explainer.render.latex import render_latex
from gradcheck.explainer.render.markdown import render_markdown
from gradcheck.explainer.render.notebook import render_formulas, render_html
from gradcheck.explainer.render.svg import render_svg
from gradcheck.explainer.render.terminal import render_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.explainer.document import Document
    from gradcheck.explainer.proof import Proof
    from gradcheck.model import Array, Shape

__all__ = ["Explanation", "explain"]


def explain(
    name: str | None = None,
    *,
    expr: str | None = None,
    args: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    at: Mapping[str, Any] | None = None,
    verify: bool = False,
    function: str | None = None,
    layer: str | None = None,
    forward: bool = False,
    second: bool = False,
) -> Explanation:
    """Explain where the gradient of an op, an expression, a function or a layer comes from.

    Args:
        name: an op ("matmul"), a TensorFlow name ("tf.linalg.matmul", "tf.raw_ops.Roll"), or a case
            of a spec ("specs/linalg.yaml::transposed").
        expr: in place of a name, an expression of TensorFlow calls over inputs that `shapes` or
            `at` name: "tf.reduce_sum(tf.square(x))".
        args: what the op takes besides its inputs: {"transpose_b": True}.
        shapes: of inputs, by name: {"x": (3, 4)}; what is not given is as in the op's example.
        at: values of inputs, or of the upstream gradient "G": adds every step in numbers.
        verify: evaluate every printed formula against the tape and central differences; this loads
            TensorFlow.
        function: in place of a name, a function of yours, "package.module:name"; it is run.
        layer: in place of a name, a class of Keras' or yours; `args` are those of the class.
        forward: derive forward mode too.
        second: derive the Hessian times a direction too.

    Returns:
        An Explanation: it prints as text, and displays as a page in a notebook.

    Raises:
        UsageError: where there is no such op, input or argument; the text says what there is.
        ExplainError: where something cannot be explained.
    """
    try:
        texts = {"name": name, "expr": expr, "function": function, "layer": layer}
        question = _question(texts, args or {}, shapes or {}, at or {})
        return _explained(replace(question, verify=verify, forward=forward, second=second))
    except (UsageError, ExplainError) as error:
        raise type(error)(_in_python(str(error))) from None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation:
    """Where a gradient comes from; `str` gives the text that `gradcheck explain` prints."""

    document: Document
    proofs: tuple[Proof, ...] = ()
    """With `verify`: each printed formula against the tape and central differences."""

    @property
    def title(self) -> str:
        """The op, or the expression."""
        return self.document.title

    @property
    def holds(self) -> bool | None:
        """Whether every printed formula was proved; None where none was evaluated."""
        return all(proof.holds for proof in self.proofs) if self.proofs else None

    @property
    def data(self) -> Mapping[str, Any]:
        """Names, shapes, the formulas by input ("gradient"), code to paste ("code")."""
        return self.document.data

    @property
    def text(self) -> str:
        """For a terminal, with the mathematics in Unicode."""
        return self._set(render_text)

    @property
    def markdown(self) -> str:
        """Markdown, with the mathematics in LaTeX between dollar signs."""
        return self._set(render_markdown)

    @property
    def latex(self) -> str:
        """A whole document for pdflatex."""
        return self._set(render_latex)

    @property
    def html(self) -> str:
        """A fragment of HTML that needs nothing from elsewhere."""
        return self._set(render_html)

    @property
    def page(self) -> str:
        """A whole page of HTML, for a file: it needs nothing from elsewhere."""
        return self._set(render_page)

    @property
    def svg(self) -> str:
        """The chain rule as a picture, for a file."""
        return self._set(render_svg)

    @property
    def json(self) -> str:
        """A JSON object with everything, for machines."""
        return self._set(render_json)

    def _set(self, render: Callable[[Document], str]) -> str:
        with answering():  # mathematics is set when it is asked for, and may take its time
            return render(self.document)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        proved = {None: "", True: ", proved", False: ", of which a formula FAILS"}[self.holds]
        return f"<explanation of {self.title}{proved}>"

    def _repr_html_(self) -> str:
        return self.html

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _repr_latex_(self) -> str | None:
        """The gradients alone: notebooks take LaTeX for a formula, not for a document."""
        return self._set(render_formulas) or None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """All that a front end may choose from."""
        del include, exclude  # the front end picks by itself
        formulas = self._repr_latex_()
        return {
            "text/plain": self.text,
            "text/html": self.html,
            "text/markdown": self.markdown,
            **({"text/latex": formulas} if formulas else {}),
        }


def _question(
    texts: Mapping[str, Any],
    args: Mapping[str, Any],
    shapes: Mapping[str, Any],
    at: Mapping[str, Any],
) -> Question:
    for what, text in texts.items():
        if text is not None and not isinstance(text, str):
            hint = getattr(text, "__name__", "matmul")
            raise UsageError(f"{what} is {text!r}: explain takes a text, such as {hint!r}")
    if all(text is None for text in texts.values()):
        raise UsageError("explain needs the name of an op, as in explain('matmul'), or expr=…")
    return Question(
        **texts,
        args=dict(args),
        shapes={key: _shape(key, sizes) for key, sizes in shapes.items()},
        at={key: _value(key, value) for key, value in at.items()},
    )


def _explained(question: Question) -> Explanation:
    with answering(verify=question.runs):
        document, proofs = answer(question)
    return Explanation(document, tuple(proofs))


def _shape(name: str, sizes: Any) -> Shape:
    try:
        found = tuple(int(size) for size in ([sizes] if isinstance(sizes, int) else sizes))
    except (TypeError, ValueError):
        raise UsageError(f"--shape {name}: a shape is whole numbers, not {sizes!r}") from None
    return checked_shape(name, found)


def _value(name: str, value: Any) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    return checked_value(name, array, repr(value))


_PYTHON = (
    (r"--(arg|shape) (\w+)=…", r"\1s={'\2': …}"),
    (r"--shape NAME=3,4 \(a plain --shape NAME= is a number\)", "shapes={'x': (3, 4)}"),
    (r"--at (\w+)=", r"at['\1'] = "),
    (r"--shape (\w+):", r"shapes['\1']:"),
    (r"--at (\w+):", r"at['\1']:"),
    (r"no NAME and no --arg", "no name and no args"),
    (r"--verify", "verify=True"),
    (r"--(\w+)", r"\1"),
)
"""The options of the command, and what they are in Python."""


def _in_python(message: str) -> str:
    """The command's words stand where a fault is found: they are put into Python's here, once."""
    for option, argument in _PYTHON:
        message = re.sub(option, argument, message)
    return message
