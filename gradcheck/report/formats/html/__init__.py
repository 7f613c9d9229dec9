"""A page: one file that needs nothing else, for people who look at a run in a browser.

`page.css` and `page.js` are inlined when the page is written. What a reader needs stands in the
page as HTML; the details of cases that are as expected are packed and unfolded by the script.

The modules come in this order, each imports only what stands before it: markup; drawing, status;
`pictures/`; shown_run; case_details; the sections (headline, changes, failure_list, known_bugs,
remark_lists, verdict_grid, coverage_table, run_trend, case_table); packing; page; html_reporter.
"""
