"""Samples that are differentiated implicitly, compared with what that means.

A sampler that rejects (of Gamma, Beta, von Mises, Student's t …) is no smooth function of its
parameters: a draw that is rejected a moment later makes the sample jump. TensorFlow differentiates
such samples along the quantile instead: dz/dθ = −(∂F/∂θ) / f, where F is the distribution function
and f the density (Figurnov et al. 2018). That is the derivative of the z at which F stays what it
is, and this is a function that can be differentiated numerically.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.tape import Tape
from gradcheck.checker.subject.tensors import explain_exception
from gradcheck.model import Mode, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Problem
    from gradcheck.model import Array

_DRAWS = re.compile(r"Random|^Rng|Multinomial|TruncatedNormal")

REPARAMETERISED = (
    "the function draws random numbers. If it draws by rejection, as samplers of Gamma and von "
    "Mises do, and those that are made of them (Beta, Dirichlet, Student's t), its gradient is the "
    "implicit one, −∂F/∂θ / f along the quantile, and not that of the draw, which jumps. Say what "
    "the distribution function F is (`cdf`), and it is compared with that"
)


def draws(kinds: Collection[str]) -> bool:
    """Whether ops of these kinds draw random numbers."""
    return any(_DRAWS.search(kind) for kind in kinds)


def along_the_quantile(problem: Problem) -> Problem:
    """The problem whose function is the quantile, and whose gradients are those of the sample.

    Without it `test_samples_are_differentiated_implicitly` fails.
    """
    import tensorflow as tf

    own, cdf = problem.function, problem.cdf
    if cdf is None:
        return problem
    arguments = [operand.hold(operand.value) for operand in problem.operands]
    # (Where its gradient is wanted, a sampler may draw other numbers than else.)
    samples = Tape(own, problem.operands).record(arguments)
    if len(samples) != 1:
        raise Ended(
            Verdict.ERROR,
            f"`cdf` is the distribution function of one sample, but there are {len(samples)} "
            "outputs: choose one of them (`outputs`)",
        )
    (sample,) = samples
    if problem.mode is not Mode.EAGER:
        sample = tf.constant(_drawn_there(problem, np.zeros_like(sample.numpy())))
    try:
        with tf.GradientTape() as tape:
            tape.watch(sample)
            level = cdf(sample, *arguments)
        density = tape.gradient(level, sample)
    except Exception as error:
        raise Ended(Verdict.ERROR, f"`cdf` raised {explain_exception(error)}") from error

    if density is None or density.shape != sample.shape or level.shape != sample.shape:
        raise Ended(
            Verdict.ERROR,
            f"`cdf` is {list(level.shape)} where the sample is {list(sample.shape)}, or does not "
            "depend on it: it has to give the distribution function of each number of the sample",
        )

    def quantile(*tensors: Any) -> Any:
        """Where the distribution function is what it is at the point."""
        found = sample
        for _ in range(limits.QUANTILE_STEPS):
            found = found - (cdf(found, *tensors) - level) / density
        return found

    def taken(_: Any, operands: Sequence[Operand], mode: Mode) -> Tape:
        return Tape(own, operands, mode)

    problem = replace(
        problem,
        function=quantile,
        tape=taken,
        recorded=None,
        recorded_in_double=None,
        keeps_its_digits=False,
        is_exact=False,
        is_of_a_library=False,
        names_nothing=False,
        may_have_phases=True,
    )
    return replace(problem, takes_other_shapes=False, cdf=None)


def _drawn_there(problem: Problem, upstream: Array) -> Array:
    """The sample in the mode of the problem: compiled, others may be drawn.

    Without it `test_a_sample_that_is_another_one_compiled` fails.
    """
    tape = Tape(problem.function, problem.operands, problem.mode)
    return tape([operand.value for operand in problem.operands], [upstream]).outputs[0]
