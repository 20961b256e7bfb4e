"""What a run costs, against the loops people write by hand and the floors nobody can go below."""
