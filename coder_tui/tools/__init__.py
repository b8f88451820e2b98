"""What a model can do, one declared tool each."""
