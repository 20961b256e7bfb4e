"""Applications that ship with Yuzui."""
