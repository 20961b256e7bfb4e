"""Production chat agents whose model is a proposer, never a controller."""
