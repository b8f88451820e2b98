"""Gates for text: `safe_text` lets nothing raw into the terminal, `redact` lets no secret out."""
