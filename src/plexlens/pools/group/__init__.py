"""Pools of a data-sharing group: each member has its own, and group buffer pools between them keep pages coherent."""
