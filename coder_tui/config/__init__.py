"""Settings: where they come from, what they mean, what is wrong with them, whom a project may trust.

Enter at `sources.py` to find them and `settings.py` for the schema.
"""
