"""Cases in worker processes of this machine, which may crash, hang or exit.

May import the modules of `gradcheck.run`, but nothing of `gradcheck.run.dask`; what runs inside a
worker imports `gradcheck.checker`, when it runs. The modules come in this order: memory,
crash_message, fork_server, preload, channel and result_bytes; leftovers; worker, which runs in the
process; worker_output and worker_handle, which are its parent's; pool.
"""
