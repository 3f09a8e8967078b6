"""Two runs side by side, of studies or of databases, and chains of them."""
