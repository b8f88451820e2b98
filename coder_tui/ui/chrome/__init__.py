"""The lines around the transcript: status bar, banners, hints and the welcome text."""
