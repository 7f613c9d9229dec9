"""Wrong gradients that nobody pointed at: what `gradcheck hunt` and `gradcheck shrink` do.

May import `gradcheck.start`, `gradcheck.run`, `gradcheck.checker`, `gradcheck.spec`,
`gradcheck.ops`, `gradcheck.model` and `gradcheck.errors`. Inside, imports point one way:
around_point, bandit, drafts, failures, layer_text < draw_values, one_cause, promised, recorded,
run_script, script_parts < script, short_script < signatures < documented, draw_sparse <
described, random_kernels, shrinker < meant_call < second_opinion < draw_call, gradient_code,
record_calls < probe, quarry, ledger < task < errands < blame < pursuit < visit < expedition,
single_case.

All that calls anything runs in workers (`task.py` says which tasks there are); the command itself
only deals them out, and writes down what was found.
"""
