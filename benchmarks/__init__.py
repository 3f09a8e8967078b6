"""Speed and memory, run by hand and recorded: ``python -m benchmarks``.

Each benchmark checks its answer in the same run and is shown next to a yardstick measured in that run.
"""
