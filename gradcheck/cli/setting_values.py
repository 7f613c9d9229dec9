"""Values of `[tool.gradcheck]` that only the commands can judge: formats, and sizes of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.spec.settings import Settings


def memory_limit(settings: Settings) -> int | None:
    """Bytes, or None for no limit; UsageError, with its place, for a text that is no size."""
    if settings.memory_limit is None:
        return None
    from gradcheck.run import parse_size

    return parse_size(settings.memory_limit, settings.place("memory_limit"))


def must_name_formats(settings: Settings) -> None:
    """UsageError, with its place, for the first format that there is not."""
    from gradcheck.report import must_be_a_format

    for key, names in (("format", [settings.format]), ("reports", list(settings.reports))):
        for name in filter(None, names):
            must_be_a_format(name, settings.place(key))


def must_hold(settings: Settings) -> None:
    """UsageError for what a run would refuse; `validate` asks, so that it is found before one."""
    wrong: list[str] = []
    questions: tuple[Callable[[Settings], object], ...] = (memory_limit, must_name_formats)
    for question in questions:
        try:
            question(settings)
        except UsageError as error:
            wrong.append(str(error))
    if wrong:
        raise UsageError("\n".join(wrong))
