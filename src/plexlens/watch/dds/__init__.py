"""Intervals of an RMF Distributed Data Server: what it has, what is held, and the answers that bring the others."""
