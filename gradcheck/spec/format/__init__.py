"""The spec format: its keys, what each may hold, and the cases that a file expands to.

May import `gradcheck.spec.yaml` and `gradcheck.spec.expression`, and `gradcheck.ops` for what the
ops declare.
"""
