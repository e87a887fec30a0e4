"""Programs as text, LaTeX and MathML."""
