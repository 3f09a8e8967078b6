"""Reports that carry their proof: a page with the records that its numbers are computed from, and the check of it."""
