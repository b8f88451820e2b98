"""Settings, where they come from, and what is wrong with them."""
