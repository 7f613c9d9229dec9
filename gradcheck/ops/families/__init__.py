"""The declarations, a file per family of ops; each family lists its own in `OPS`.

A family may import from every other part of `gradcheck.ops` but the catalogue, and from no other
family: what two of them share lies below, in `rules`, `domains`, `sentences` and `factories`.
"""
