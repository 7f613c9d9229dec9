"""Wrong gradients that nobody pointed at: what `gradcheck hunt` and `gradcheck shrink` do.

May import `gradcheck.start`, `gradcheck.run`, `gradcheck.checker`, `gradcheck.spec`,
`gradcheck.ops`, `gradcheck.model` and `gradcheck.errors`. Inside, imports point one way: drafts,
draw_values, failures, bandit < signatures, script < draw_call, second_opinion, record_calls <
probe, shrinker < task < quarry, ledger < pursuit < explore < expedition.

All that calls anything runs in workers (`task.py` says which tasks there are); the command itself
only deals them out, and writes down what was found.
"""
