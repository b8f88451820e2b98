"""The one database of sessions."""
