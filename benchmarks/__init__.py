"""Speed and memory, run by hand and recorded: ``python -m benchmarks``.

Each benchmark checks its answer in the same run and stands beside a yardstick measured in that run.
"""
