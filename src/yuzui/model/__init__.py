"""Language models: the port, the messages it takes, what keeps them well-formed."""
