"""Gates for untrusted text."""
