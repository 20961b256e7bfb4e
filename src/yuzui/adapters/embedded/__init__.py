"""Parts of the embedded PostgreSQL: who runs it, from which files, where, and whether it is alive."""
