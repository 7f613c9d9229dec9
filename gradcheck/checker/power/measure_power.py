"""What a case would catch: faults are planted in its gradients, and the check judges each.

A fault changes the analytic side only, so what the function and its tape give is remembered. What
judges is the check itself, with all its second looks.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import causes, tolerances
from gradcheck.checker.case import check_case, problem_of
from gradcheck.checker.judge.figures import place
from gradcheck.checker.power.mutations import Mutation, Scene, mutations
from gradcheck.checker.reference.measured import along_elements, with_measured_noise
from gradcheck.checker.reference.plan import make_plan
from gradcheck.checker.reference.point import evaluate_at
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.memoise import RememberingEvaluator, RememberingTape
from gradcheck.checker.subject.quantile import along_the_quantile
from gradcheck.checker.subject.tape import Backward
from gradcheck.checker.subject.upstream import draw_upstream
from gradcheck.checker.verdict import judge_gradients
from gradcheck.model import CheckKind, Comparison, Mode, Verdict
from gradcheck.model.planted import Fate, Planted, Power

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from gradcheck.checker.subject.problem import Differentiate, Problem
    from gradcheck.model import Array, Case


BLAMES = frozenset({Verdict.MISMATCH, Verdict.NONFINITE, Verdict.DISCONNECTED, Verdict.ERROR})
"""How a check must end to have caught a fault; that it could not tell is not enough."""


def measure_power(case: Case, *, allow: Collection[str] = (), root: str = ".") -> Power:
    """Check the case as it stands, then with every fault in turn."""
    started = time.perf_counter()
    result = check_case(case, allow=allow, root=root)
    sound = {
        comparison.name
        for comparison in result.comparisons
        if comparison.check is CheckKind.REVERSE and comparison.verdict.acceptable
    }
    planted: tuple[Planted, ...] = ()
    message = result.message
    if sound:
        problem = problem_of(case, allow=allow, root=root)
        with np.errstate(all="ignore"), explored(problem) as whole:
            planted = tuple(Study(along_the_quantile(whole)).run(sound))
    elif CheckKind.REVERSE not in case.checks:
        message = message or "the case does not check the gradient of the tape"
    else:
        message = message or "no gradient is right as it stands, so none can be made wrong"
    return Power(
        id=case.id,
        verdict=result.verdict,
        message=message,
        seconds=time.perf_counter() - started,
        case=case,
        planted=planted,
    )


class Study:
    """A problem whose gradients are correct, ready to be made wrong in any number of ways."""

    def __init__(self, problem: Problem) -> None:
        """Evaluate the function at its point, and differentiate it numerically."""
        self.problem = problem
        point = evaluate_at(problem)
        point.evaluator.probe()
        self.point = replace(point, evaluator=RememberingEvaluator(point.evaluator))
        derivatives = with_measured_noise(self.point, make_plan(self.point))
        derivatives, self.estimate = along_elements(derivatives)
        self.coordinates, self._noise = derivatives.plan.coordinates, derivatives.noise
        self._tape = RememberingTape(problem)
        self._mode = Mode.EAGER if point.two_questions else problem.mode

    def run(self, names: Collection[str]) -> Iterator[Planted]:
        """Plant every fault in the gradients of these inputs, one at a time."""
        every = [operand.name for operand in self.point.moved]
        for position, name in enumerate(every):
            if name in names:
                ground = _Ground(self, position)
                for mutation in mutations(ground.scene, every):
                    yield ground.plant(mutation)

    def check(self, mutation: Mutation, position: int, element: int) -> Comparison:
        """What the check says about an input whose gradient has this fault."""

        def tape(_function: Any, _operands: Any, mode: Mode) -> Differentiate:
            def differentiate(values: Sequence[Array], upstream: Sequence[Array]) -> Backward:
                scene = self._scene(position, element, values, upstream, mode)
                changed = mutation.change(scene)
                gradients = list(scene.gradients)
                gradients[position] = None if changed is None else np.asarray(changed)
                return Backward(list(scene.outputs), gradients)

            return differentiate

        faulty = replace(self.problem, tape=tape)
        point = replace(self.point, problem=faulty)
        return judge_gradients(point, noise=self._noise, causes=False, same=True)[position]

    def at_the_point(
        self, position: int, element: int, upstream: Sequence[Array] | None = None
    ) -> Scene:
        """The correct backward pass, for the upstream of the problem or for another."""
        upstream = self.point.upstream if upstream is None else upstream
        return self._scene(position, element, self.point.values, upstream, self._mode)

    def _scene(
        self,
        position: int,
        element: int,
        values: Sequence[Array],
        upstream: Sequence[Array],
        mode: Mode,
    ) -> Scene:
        passed = self._tape(values, upstream, mode)
        ones = [np.ones(ct.shape) for ct in upstream]
        operands = self.problem.operands
        return Scene(
            position=position,
            element=element,
            inputs=[v for v, o in zip(values, operands, strict=True) if o.differentiate],
            outputs=passed.outputs,
            gradients=passed.gradients,
            for_ones=lambda: self._tape(values, ones, mode).gradients,
        )


class _Ground:
    """One input in whose gradient faults are planted, and what can be said about those."""

    def __init__(self, study: Study, position: int) -> None:
        self._study = study
        self._position = position
        self._name = study.point.moved[position].name
        self._part = study.coordinates.parts[position]
        self.scene = study.at_the_point(position, 0)
        self.scene = replace(self.scene, element=self._hardest_element())

    def plant(self, mutation: Mutation) -> Planted:
        """Plant the fault and see what becomes of it."""
        fate, verdict, reason = self._outcome(mutation)
        return Planted(
            input=self._name,
            name=mutation.name,
            text=mutation.text,
            fate=fate,
            verdict=verdict,
            reason=reason,
            family=mutation.family,
            size=mutation.size,
            counted=mutation.counted,
        )

    def _outcome(self, mutation: Mutation) -> tuple[Fate, Verdict | None, str]:
        changed = mutation.change(self.scene)
        if changed is not None and not self._differs(self.scene, changed).any():
            if self._hidden_by_upstream(mutation):
                reason = "the upstream hides it: for a random one the gradient would differ"
                return Fate.SURVIVED, None, reason
            return Fate.EQUIVALENT, None, self._why_the_same()
        comparison = self._study.check(mutation, self._position, self.scene.element)
        verdict = comparison.verdict
        if verdict in BLAMES:
            return Fate.CAUGHT, verdict, ""
        if changed is None:
            return Fate.SURVIVED, verdict, "no reason is known"
        if self._only_at_kinks(changed):
            reason = "at a kink every value between the one-sided derivatives is right"
            return Fate.EQUIVALENT, verdict, reason
        return Fate.SURVIVED, verdict, self._why(np.asarray(changed), comparison)

    def _hardest_element(self) -> int:
        """The element whose relative error would be the hardest to see.

        One that was not moved by itself, if there is any, else the one whose error bar is the
        largest share of it. Elements that are zero but for rounding cannot be wrong by a share.
        """
        gradient, estimate = self.scene.gradient, self._study.estimate
        if not gradient.size:
            return 0
        columns, per_element = self._part.columns, 2 if np.iscomplexobj(gradient) else 1
        element = self._study.coordinates.element[columns] // per_element
        allowed, zero = np.zeros(gradient.size), np.zeros(gradient.size)
        np.maximum.at(allowed, element, estimate.bound[columns])
        np.maximum.at(zero, element, tolerances.ARITHMETIC * estimate.scale[columns])
        size = np.abs(gradient).ravel().astype(np.float64)
        if len(self._part.directions):
            allowed[np.setdiff1d(np.arange(gradient.size), element)] = np.inf
        else:
            # Elements that no coordinate moves first (an upper triangle) have no say.
            size[np.setdiff1d(np.arange(gradient.size), element)] = 0.0
        share = np.where(size > zero, allowed / size, -1.0)
        return int(np.argmax(np.nan_to_num(share, nan=-1.0)))

    def _along_coordinates(self, gradient: Array) -> Array:
        """A gradient of this input as the check sees it."""
        layout = self._study.point.inputs
        arrays = [np.zeros(shape) for shape in layout.shapes]
        arrays[self._position] = np.asarray(gradient)
        flat = layout.flatten(arrays)
        if len(self._part.directions):
            return flat[layout.offsets[self._position] : layout.offsets[self._position + 1]]
        return self._study.coordinates.space.project(flat)[self._part.span]

    def _differs(self, scene: Scene, changed: Array) -> Array:
        """By coordinate: whether a fault does more than to round differently."""
        before = self._along_coordinates(scene.gradient)
        after = self._along_coordinates(changed)
        size = np.fmax(np.abs(before), np.abs(after))
        if not len(self._part.directions):
            size = np.fmax(size, self._study.estimate.scale[self._part.span])
        epsilon = float(np.finfo(np.float64).eps)
        return np.asarray(~(np.abs(after - before) <= causes.LAST_PLACES * epsilon * size))

    @cached_property
    def _for_random_upstream(self) -> Scene:
        outputs = self._study.point.outputs
        drawn = draw_upstream("random", outputs.shapes, outputs.complex_, self._study.problem.seed)
        return self._study.at_the_point(self._position, self.scene.element, drawn)

    def _hidden_by_upstream(self, mutation: Mutation) -> bool:
        if self._study.problem.upstream == "random":
            return False
        scene = self._for_random_upstream
        changed = mutation.change(scene)
        return changed is not None and bool(self._differs(scene, changed).any())

    def _why_the_same(self) -> str:
        if not self.scene.gradient.size:
            return "the input is empty"
        if not self.scene.gradient.any():
            return "at this point the gradient is zero throughout"
        return "at this point the gradient is the same"

    def _only_at_kinks(self, changed: Array) -> bool:
        if len(self._part.directions):
            return False
        at_kink = self._study.estimate.kink[self._part.span]
        return bool(at_kink[self._differs(self.scene, changed)].all())

    def _why(self, changed: Array, comparison: Comparison) -> str:
        """Why a fault that changes the gradient was not caught."""
        if comparison.verdict is Verdict.INCONCLUSIVE:
            return "the check fails, but as inconclusive: it cannot tell that the gradient is wrong"
        if self._study.problem.tolerance is not None:
            return "the tolerance of the case allows it"
        if comparison.bound is None or comparison.numeric is None:
            return "no reason is known"
        change = np.abs(changed - self.scene.gradient)
        bar = tolerances.BOUND_SAFETY * comparison.bound + tolerances.ARITHMETIC * np.abs(
            comparison.numeric
        )
        index = np.unravel_index(int(np.argmax(np.nan_to_num(change / bar))), change.shape)
        at = f"{self._name} at {place([int(i) for i in index])}"
        if np.isnan(bar[index]):
            return f"{at} was not moved by itself, and the random directions cannot see it"
        return (
            f"below the error bar: it changes {at} by {change[index]:.1e}, which is known to "
            f"± {bar[index]:.1e}"
        )
