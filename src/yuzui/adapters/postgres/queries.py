"""Described SQL, under the name the stores know it by; apps load theirs with the same code."""

from yuzui.runs.queries import Queries, QueryFileError, load

__all__ = ["Queries", "QueryFileError", "load"]
