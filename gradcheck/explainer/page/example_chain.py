"""The picture of a page: its chain of values, and the numbers at a point, given or drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ExplainError
from gradcheck.explainer import trees
from gradcheck.explainer.derive.chain import adjoints, bar
from gradcheck.explainer.derive.drawn_point import domains_to_try, drawn, drawn_input
from gradcheck.explainer.page.example_numbers import Route, numbers_of, too_large
from gradcheck.explainer.page.graph_setting import setting_of
from gradcheck.explainer.page.op_page import gradient_math
from gradcheck.explainer.page.page_lines import forward_line, gradient_line
from gradcheck.explainer.style import UNICODE
from gradcheck.explainer.time_limit import TookTooLong
from gradcheck.explainer.worked_example import Picture, Place
from gradcheck.ops.declaration import ANYWHERE
from gradcheck.ops.samples.registry import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from gradcheck.explainer.derive.call_graph import Graph, Step
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.explainer.style import Style
    from gradcheck.explainer.worked_example import Numbers
    from gradcheck.model import Array
    from gradcheck.ops.declaration import Domain

__all__ = ["expression_picture", "op_picture"]

_DRAWN_DIGITS = 2
"""Of drawn values, so that they can be followed by hand."""
_ROUNDED = ("general", "symmetric", "lower", "invertible")
"""Kinds of values that stay what they are with few digits; an orthogonal matrix does not."""


def op_picture(subject: Subject, at: Mapping[str, Array]) -> Picture:
    """An op in one call."""
    places = tuple(_op_places(subject))
    return _with_numbers(places, subject.loss, _op_route(subject), at, _op_points(subject))


def _op_places(subject: Subject) -> Iterable[Place]:
    op, setting = subject.op, subject.setting(UNICODE)
    short = subject.shortened(*subject.printed.values())
    back = {
        name: gradient_math(subject, name, tree)
        for name, tree in zip(subject.printed, short.formulas, strict=True)
    }
    for name, shape in subject.call.shapes.items():
        yield Place(name, setting.symbol(name), (tuple(shape),), back=back.get(name))
    symbols = _op_symbols(subject)
    own = ", ".join(output for _, output in symbols)
    shapes = tuple(map(tuple, subject.shape)) if op.outputs else (tuple(subject.shape),)

    def forward(style: Style) -> str:
        right = subject.op.summary if subject.forward is None else ""
        left = ", ".join(style.symbol(output) for output in _outputs(subject))
        return right or f"{left} = {subject.setting(style).text(subject.forward or '')}"

    def upstream(style: Style) -> str:
        return ", ".join(subject.setting(style).symbol(name) for name in _upstreams(subject))

    names = tuple(subject.call.shapes)
    yield Place("out", own, shapes, op.name, names, frozenset(back), forward, upstream)


def _outputs(subject: Subject) -> list[str]:
    return list(subject.op.output_names(subject.call)) or [subject.symbols["out"]]


def _upstreams(subject: Subject) -> list[str]:
    return [f"G[{i}]" for i in range(len(subject.shape))] if subject.op.outputs else ["G"]


def _op_symbols(subject: Subject) -> tuple[tuple[str, str], ...]:
    setting = subject.setting(UNICODE)
    upstreams = [setting.symbol(name) for name in _upstreams(subject)]
    outputs = [UNICODE.symbol(name) for name in _outputs(subject)]
    return tuple(zip(upstreams, outputs, strict=True))


def _op_route(subject: Subject) -> Route:
    several = bool(subject.op.outputs)
    forward = trees.text_of(subject.forward) if subject.forward is not None else ""
    printed = {name: trees.text_of(tree) for name, tree in subject.printed.items()}
    setting = subject.setting(UNICODE)

    def ahead(values: Mapping[str, Array]) -> dict[str, Any]:
        if not forward:
            raise ExplainError(f"{subject.op.name} can only be evaluated by TensorFlow")
        return {**subject.call.args, **values, "out": trees.run(forward, values)}

    def back(known: Mapping[str, Any], upstream: list[Array]) -> dict[str, Array]:
        given = {**known, "G": upstream if several else upstream[0]}
        found = {name: trees.run(text, given) for name, text in printed.items()}
        return found if several else {**found, "out": upstream[0]}

    return Route(
        subject.call.shapes,
        {name: setting.symbol(name) for name in printed},
        subject.differentiable,
        _op_symbols(subject),
        ahead,
        lambda known: list(known["out"]) if several else [known["out"]],
        back,
    )


def _op_points(subject: Subject) -> Callable[[], Iterable[dict[str, Array]]]:
    def points() -> Iterable[dict[str, Array]]:
        declared = {p.name: p for p in subject.op.inputs}
        parameters = {n: declared.get(n, subject.op.inputs[0]) for n in subject.call.shapes}
        found = {
            name: drawn_input(parameters[name], shape, name, 0)
            for name, shape in subject.call.shapes.items()
        }
        yield {name: _rounded(value, parameters[name].domain) for name, value in found.items()}
        yield found

    return points


def expression_picture(
    graph: Graph, at: Mapping[str, Array], wanted: tuple[str, ...] | None
) -> Picture:
    """A whole expression."""
    setting = setting_of(graph, UNICODE)
    places = tuple(_expression_places(graph))
    route = _expression_route(graph, wanted or tuple(graph.inputs))
    return _with_numbers(places, setting.loss, route, at, _expression_points(graph))


def _expression_places(graph: Graph) -> Iterable[Place]:
    setting = setting_of(graph, UNICODE)
    found = adjoints(graph)
    back = {a.name: gradient_line(graph, a.name, a.tree) for a in found}
    back[graph.output] = lambda style: setting_of(graph, style).symbol("G")
    for name, shape in graph.inputs.items():
        yield Place(name, setting.symbol(name), (tuple(shape),), back=back.get(name))
    for step in graph.steps:
        yield Place(
            step.name,
            setting.symbol(step.name),
            (tuple(step.shape),),
            step.op.name,
            _operands(graph, step),
            frozenset(a.name for a in found if step.name in {part.step for part in a.parts}),
            forward_line(graph, step.name, step.forward),
            back.get(step.name),
        )


def _operands(graph: Graph, step: Step) -> tuple[str, ...]:
    names = [
        name
        for operand in step.operands.values()
        for name in sorted(trees.names_in(operand))
        if name in graph.shapes
    ]
    return tuple(dict.fromkeys(names))


def _expression_route(graph: Graph, wanted: tuple[str, ...]) -> Route:
    setting = setting_of(graph, UNICODE)
    steps = {step.name: trees.text_of(step.forward) for step in graph.steps}
    backward = {a.name: trees.text_of(a.tree) for a in adjoints(graph)}
    moving = tuple(name for name in graph.inputs if name in backward)

    def ahead(values: Mapping[str, Array]) -> dict[str, Any]:
        known: dict[str, Any] = dict(values)
        for name, text in steps.items():
            known[name] = trees.run(text, known)
        return known

    def back(known: Mapping[str, Any], upstream: list[Array]) -> dict[str, Array]:
        given: dict[str, Any] = {**known, "G": upstream[0]}
        found = {graph.output: upstream[0]}
        for name, text in backward.items():
            found[name] = given[bar(graph, name)] = trees.run(text, given)
        return found

    return Route(
        graph.inputs,
        {name: setting.symbol(name) for name in moving if name in wanted},
        moving,
        ((setting.symbol("G"), setting.symbol(graph.output)),),
        ahead,
        lambda known: [known[graph.output]],
        back,
    )


def _expression_points(graph: Graph) -> Callable[[], Iterable[dict[str, Array]]]:
    def points() -> Iterable[dict[str, Array]]:
        for tried in domains_to_try(graph):
            domains = {name: tried.get(name, ANYWHERE) for name in graph.inputs}
            found = {n: drawn(domains[n], shape, n, 0) for n, shape in graph.inputs.items()}
            yield {name: _rounded(value, domains[name]) for name, value in found.items()}
            yield found

    return points


def _rounded(values: Array, domain: Domain) -> Array:
    """With few digits, where the values stay where they may lie."""
    if values.dtype.kind != "f" or SAMPLES[domain.sample.name].structure not in _ROUNDED:
        return values
    few = np.round(values, _DRAWN_DIGITS) + 0.0
    inside = (few > domain.low) & (few < domain.high) & ((few == 0) == (values == 0))
    return few if inside.all() and not np.isin(few, domain.kinks).any() else values


def _with_numbers(
    places: tuple[Place, ...],
    loss: str,
    route: Route,
    at: Mapping[str, Array],
    points: Callable[[], Iterable[dict[str, Array]]],
) -> Picture:
    """The chain with its numbers at the first point that has some; it is drawn without them too."""
    if missing := too_large(places):
        return Picture(places, loss, missing=missing)
    missing = "there are no numbers at the points that were tried: give one with --at"
    tried: Iterable[Mapping[str, Array]] = [at] if at else points()
    for point in tried:
        try:
            return Picture(places, loss, _numbers(route, point, given=bool(at)))
        except TookTooLong:
            raise
        except ExplainError as error:
            missing = str(error)
        except Exception as error:  # a matrix without an inverse, an index out of bounds
            missing = f"nothing can be computed at this point ({error})"
    return Picture(places, loss, missing=missing)


def _numbers(route: Route, point: Mapping[str, Array], *, given: bool) -> Numbers:
    values = {name: np.asarray(point[name]) for name in route.shapes}
    upstream: list[Array] | None = None
    if given:
        # (Where a page has numbers and no G, it is of ones: L is the sum of the output.)
        outputs = route.outputs(route.forward(values))
        whole = point.get("G")
        upstream = [np.ones(np.shape(value)) for value in outputs]
        if whole is not None:
            several = len(outputs) > 1
            upstream = [np.asarray(part, dtype=float) for part in (whole if several else [whole])]
    return numbers_of(route, values, upstream, given=given)
