"""Find files and text: ripgrep, or a search of our own where it is missing; ignore rules; the file index."""
