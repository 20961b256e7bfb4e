"""Runs: what happened, in order, durably."""
