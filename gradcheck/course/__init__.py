"""The course of `gradcheck guide`: lessons that explain, run, and show which claims are wrong.

A lesson is a page (`specs/guide/03-matmul.md`) beside its spec (`03-matmul.yaml`); in an installed
package both lie in `gradcheck/guide/`. The modules come in this order: lesson_page reads a page;
lessons finds them, and copies them; lesson_run checks the cases of one; outcomes puts what came of
them beside the claims; derived_lines takes from an explanation what a lesson shows; lesson_text
lays it all out for a terminal. The pages of docs/course/ are made from the same, by
tools/course_pages.py.
"""
