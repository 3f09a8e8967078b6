"""Tests of handing data over."""
