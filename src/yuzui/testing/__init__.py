"""Fakes that are shipped: in-memory ports, scripted and adversarial models, a harness for tools and engines."""
