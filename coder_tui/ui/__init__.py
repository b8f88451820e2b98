"""The full-screen front end; the only importer of Textual and Rich."""
