"""The three ways a run is carried out."""
