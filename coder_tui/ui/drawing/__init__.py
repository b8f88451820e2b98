"""Text to strips: everything the transcript draws, without a widget."""
