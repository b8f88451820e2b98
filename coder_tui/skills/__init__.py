"""Skills: found in folders, offered by name, read when they are wanted."""
