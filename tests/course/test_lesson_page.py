"""A page is read as people write it."""

from __future__ import annotations

from gradcheck.course.lesson_page import (
    Claim,
    Fence,
    Heading,
    Prose,
    claims_of,
    page_of_comment,
    read_page,
)

PAGE = """\
# A title

What one learns,
on two lines.

Some text:

- one
- two, and
  more
After it.

## Below

```python
x = 1

# no heading
```

```claims
one: It is so.
two: "It goes
  on: here."
```
"""


def test_parts_come_in_their_order() -> None:
    page = read_page(PAGE)
    assert (page.title, page.learns) == ("A title", "What one learns, on two lines.")
    claims = Fence("claims", ("one: It is so.", 'two: "It goes', '  on: here."'))
    assert page.parts == (
        Prose("Some text:"),
        Prose("one", item=True),
        Prose("two, and more After it.", item=True),
        Heading("Below"),
        Fence("python", ("x = 1", "", "# no heading")),
        claims,
    )
    assert page.claims == claims_of(claims)


def test_claims_name_their_case() -> None:
    assert read_page(PAGE).claims == (
        Claim("one", "It is so."),
        Claim("two", '"It goes on: here."'),
    )


def test_a_command_may_go_on_in_the_next_line() -> None:
    fence = Fence("try", ("gradcheck explain \\", "    --expr 'x * x'"))
    assert fence.command == "gradcheck explain --expr 'x * x'"


def test_a_fence_that_is_not_closed_ends_with_the_page() -> None:
    assert read_page("# A\n\n```text\nx").parts == (Fence("text", ("x",)),)


def test_a_spec_alone_is_a_lesson_too() -> None:
    page = page_of_comment("# The title.\n#\n# More of\n# it.\nop: exp\n# no more\n")
    assert (page.title, page.learns) == ("The title", "")
    assert page.parts == (Prose("More of it."), Fence("claims", ()))
    assert page_of_comment("op: exp\n").title == ""
