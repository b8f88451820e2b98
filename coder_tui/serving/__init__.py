"""The screen in a browser: one process for each tab, behind a token."""
