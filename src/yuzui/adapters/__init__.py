"""The ways out: PostgreSQL, models, vectors, tools of other servers, telemetry."""
