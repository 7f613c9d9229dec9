"""A document as text, Markdown, LaTeX, JSON, a page or a picture: one file per format.

Imports document, style and worked_example alone: a format knows nothing of how a page came about.
What pages and notebooks share: elements (markup), mathml, number_grid, jacobian_map, chain_layout,
chain_drawing, where_from, pictured; the terminal has pattern_lines.
"""
