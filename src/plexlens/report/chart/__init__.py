"""Drawing of charts: axes, SVG over time and over a number, heat maps, and charts as columns of text."""
