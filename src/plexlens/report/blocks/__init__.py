"""Declarations of pages, and evaluation of their blocks over a database."""
