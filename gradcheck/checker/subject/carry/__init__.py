"""Many points carried along with one call of a function, op by op.

Without it `test_carried_where_no_batch_is_taken` fails.
"""
