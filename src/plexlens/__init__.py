"""Plexlens: an open performance workbench for IBM Z."""

from importlib.metadata import version

__version__ = version("plexlens")
__all__ = ["__version__"]
