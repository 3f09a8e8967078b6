"""How charts are drawn: axes, SVG over time and over a number, heat maps, and charts as columns of text."""
