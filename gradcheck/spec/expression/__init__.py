"""Safe expressions: parsed by Python, translated node by node, reaching a fixed list."""
