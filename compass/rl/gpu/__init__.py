"""What only runs with GPUs read: how verl's configuration differs there."""
