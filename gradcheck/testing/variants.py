"""`@gradcheck.parametrize`: one test for each dtype, mode, check and seed, named as cases are."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from gradcheck.errors import UsageError, nearest
from gradcheck.model import CheckKind, Mode
from gradcheck.spec.format.keys import CASE_DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pytest


def parametrize(
    *,
    dtype: str | Sequence[str] = (),
    mode: str | Sequence[str] = (),
    checks: str | Sequence[str] = (),
    seed: int | Sequence[int] = (),
) -> pytest.MarkDecorator:
    """Run a test for every combination of what is given, and hand it over by these names.

    Short for `pytest.mark.parametrize` over the product, with ids like those of a spec's cases:
    `test_swish[float32,xla]`. It stands beside others of pytest's, and on classes.

        @gradcheck.parametrize(dtype=["float64", "float32"], mode=["eager", "xla"])
        def test_swish(dtype, mode):
            gradcheck.assert_gradients(swish, np.ones(3, dtype), mode=mode)

    Args:
        dtype: names such as "float32", for the inputs that the test makes.
        mode: any of "eager", "graph" and "xla", for the argument of that name of `check`.
        checks: any of "reverse", "forward", "second" and "jacobian", for `checks` of `check`.
        seed: whole numbers, for `seed` of `check`.
    """
    given: dict[str, list[Any]] = {
        "dtype": _known("dtype", dtype, CASE_DTYPES),
        "mode": _known("mode", mode, Mode),
        "checks": _known("checks", checks, CheckKind),
        "seed": [seed] if isinstance(seed, int) else list(seed),
    }
    axes = {name: values for name, values in given.items() if values}
    if not axes:
        raise UsageError("parametrize needs one of dtype, mode, checks and seed")
    try:
        import pytest
    except ImportError as error:
        raise UsageError("parametrize is for pytest, which is not installed here") from error
    values = list(product(*axes.values()))
    return pytest.mark.parametrize(tuple(axes), values, ids=[_id(axes, one) for one in values])


def _known(name: str, given: str | Sequence[str], known: Iterable[str]) -> list[str]:
    values = [given] if isinstance(given, str) else [str(value) for value in given]
    names = [str(one) for one in known]
    for value in values:
        if value not in names:
            near = nearest(value, names)
            meant = f"; did you mean {near!r}?" if near else ""
            told = f"there are {', '.join(names)}{meant}"
            raise UsageError(f"parametrize: {name} is {value!r}; {told}")
    return values


def _id(axes: dict[str, list[Any]], values: tuple[Any, ...]) -> str:
    """As in the id of a case: what tells the variants apart, in the order dtype, mode, seed."""
    several = [name for name in axes if len(axes[name]) > 1] or list(axes)
    named = zip(axes, values, strict=True)
    return ",".join(f"seed={v}" if n == "seed" else str(v) for n, v in named if n in several)
