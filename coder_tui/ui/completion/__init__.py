"""Completion in the prompt: what is being named, what it may be, and how it is put there."""
