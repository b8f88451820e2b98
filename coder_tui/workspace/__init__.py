"""The person's files: confined, exact, never half written."""
