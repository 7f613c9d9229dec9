"""One file per output format, and the parts of the table that people see on a terminal.

May import the modules of `gradcheck.report`, but nothing of `gradcheck.report.read`. Here `rows`
comes before `sections`, and both before `table` and `power_report`.
"""
