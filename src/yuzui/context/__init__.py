"""What the model may know of a conversation."""
