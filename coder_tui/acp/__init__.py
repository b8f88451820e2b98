"""The core over the Agent Client Protocol: an editor's pipes in place of a screen."""
