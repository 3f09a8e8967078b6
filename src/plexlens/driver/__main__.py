"""Prints the place of the file that Locust runs."""

from __future__ import annotations

from pathlib import Path

print(Path(__file__).with_name("locustfile.py"))
