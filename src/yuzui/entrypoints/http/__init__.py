"""The HTTP interface: one file per resource."""
