"""Tests of the watch over folders."""
