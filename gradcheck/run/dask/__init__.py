"""Cases on a Dask cluster.

May import `gradcheck.run.workers` and the modules of `gradcheck.run`. The modules come in this
order: messages, packages, loop_thread; machine_pool and remote, which run on the cluster; dealing
and roster; conversation, which is a run; cluster, which is what others see.
"""
