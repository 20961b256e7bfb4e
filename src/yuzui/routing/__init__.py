"""Routing: who decides what the request is."""
