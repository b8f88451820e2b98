"""Run git without its hooks, filters and pagers, and read repositories."""
