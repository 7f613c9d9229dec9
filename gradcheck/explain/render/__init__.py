"""A page as text, Markdown, LaTeX or JSON: one file per format."""
