"""Choose and run the project's own checks after a turn that changed files."""
