"""Reaches out over HTTP: guarded addresses, bounded bodies."""
