"""What would make this machine faster, and the step that mends it."""
