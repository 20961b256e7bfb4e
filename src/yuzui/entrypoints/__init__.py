"""The ways in: HTTP, server-sent events and other projections of the log, the command line."""
