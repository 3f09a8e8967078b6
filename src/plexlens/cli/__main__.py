"""`python -m plexlens.cli`."""

from plexlens.cli import main

main()
