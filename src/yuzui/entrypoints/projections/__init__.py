"""Projections: what a front end sees of the durable log."""
