"""Parts of the client for OpenAI-compatible servers: framing, requests, replies, errors."""
