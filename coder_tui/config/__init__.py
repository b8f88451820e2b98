"""Settings: find them, check them, report what is wrong, and decide which projects are trusted.

Start at `sources.py` to find them and `settings.py` for the schema.
"""
