"""Slash commands as data: no screen, no terminal."""
