"""What writes documents and judges the product against truth; run from the repository, no part of the package."""
