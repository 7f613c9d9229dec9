"""A document as text, Markdown, LaTeX or JSON: one file per format.

Imports document and style alone: a format knows nothing of how a page came about.
"""
