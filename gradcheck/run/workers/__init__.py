"""Cases in worker processes of this machine, which may crash, hang, exit or attack.

May import the modules of `gradcheck.run`, but nothing of `gradcheck.run.dask`; what runs inside a
worker imports `gradcheck.checker`, when it runs. The modules come in this order: memory,
crash_message, orphans, preload, wire, frames; result_bytes and channel; around_case;
process_settings and tensorflow_settings, state_guard, leftovers; worker, which runs in the process,
and server_process, from which it forks; fork_server, worker_output, worker_process, worker_fate and
worker_handle, which are their parent's; first_deaths and suspects; pool; run_cases.
"""
