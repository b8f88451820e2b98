"""Models behind one typed stream."""
