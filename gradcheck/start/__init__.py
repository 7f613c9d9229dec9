"""From somebody's package to its first specs: what `gradcheck init` and `gradcheck new` do.

May import `gradcheck.run`, `gradcheck.explainer`, `gradcheck.checker`, `gradcheck.spec`,
`gradcheck.ops`, `gradcheck.model` and `gradcheck.errors`. Inside, imports point one way: project,
source_scan, guesses, spec_text, pyproject_edit < shape_ladder, look, ci_job < attempts, sightings <
trial < named_target, spec_files, survey.

What there is is found by importing modules, in workers: only Python knows what a class inherits and
what decorators have left. Where a gradient was written by hand is read from the source: a function
does not tell, and most of them are nested in others.
"""
