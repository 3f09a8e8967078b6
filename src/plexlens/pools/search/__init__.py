"""The search for changes: grouping of objects in pools, sizes, settings, and the steps to reach them."""
