"""Processes in their own groups, with limits."""
