"""`gradcheck schema`: what specs and reports look like, for editors and programs."""

from __future__ import annotations

import json

import click

from gradcheck.cli.say import say_json

KINDS = ("spec", "report", "comparison", "problems", "coverage")


@click.command(name="schema")
@click.argument("kind", metavar="[KIND]", type=click.Choice(KINDS), default="spec")
def command(kind: str) -> int:
    """Print the JSON Schema of the spec format, or of what gradcheck writes.

    With that of a spec an editor completes and checks specs while you write them. KIND is:

    \b
      spec         a spec file (the default)
      report       what `gradcheck run --format json` writes
      comparison   what `gradcheck compare --format json` writes
      problems     what `gradcheck validate --format json` writes
      coverage     what `gradcheck coverage --format json` writes

    \b
    Example:
      gradcheck schema > gradcheck.schema.json
    and in the first line of a spec:
      # yaml-language-server: $schema=gradcheck.schema.json
    """  # noqa: D301  (click reads the \b)
    if kind == "spec":
        from gradcheck.spec import schema

        told = schema()
    else:
        from gradcheck.report.formats.report_schema import SCHEMAS

        told = SCHEMAS[kind]()
    say_json(json.dumps(told, indent=2, ensure_ascii=False))
    return 0
