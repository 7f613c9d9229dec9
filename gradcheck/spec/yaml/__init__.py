"""YAML whose values know their place, with the traps of YAML 1.1 closed.

May import `gradcheck.model` and `gradcheck.errors`: what a spec is, the YAML does not know.
"""
