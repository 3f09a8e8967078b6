"""The sysplex simulator from Python."""
