"""`gradcheck schema`: the spec format, for editors."""

from __future__ import annotations

import json

import click


@click.command(name="schema")
def command() -> int:
    """Print the JSON Schema of the spec format.

    With it an editor completes and checks specs while you write them.

    \b
    Example:
      gradcheck schema > gradcheck.schema.json
    and in the first line of a spec:
      # yaml-language-server: $schema=gradcheck.schema.json
    """  # noqa: D301  (click reads the \b)
    from gradcheck.spec import schema

    click.echo(json.dumps(schema(), indent=2, ensure_ascii=False))
    return 0
