"""Safe expressions: parsed by Python, translated node by node, reaching a fixed list of functions.

May import `gradcheck.ops.language` and `gradcheck.errors`; nothing of YAML and nothing of ops.
"""
