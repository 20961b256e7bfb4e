"""Parts of the client for MCP servers: what passes over a connection, and what a child process says on its way out."""
