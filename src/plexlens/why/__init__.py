"""Why a metric changed between two periods: its parts, and the changes behind them."""
