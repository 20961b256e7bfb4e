"""PostgreSQL: the pool, one store per aggregate, described SQL and migrations."""
