"""Cases on a Dask cluster.

May import `gradcheck.run.workers` and the modules of `gradcheck.run`. `remote` is what runs on the
cluster and comes first; `cluster` is what speaks to it from here.
"""
