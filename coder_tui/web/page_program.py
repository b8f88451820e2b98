"""A child program that makes a page readable: the parser blocks the interpreter, and pages are untrusted."""

import json
import sys
from typing import Any

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

# What a reader does not see, or sees as a picture.
_UNSEEN = ["script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "[hidden]"]
_AROUND = ["nav", "[role=navigation]"]


def main() -> None:
    request = json.load(sys.stdin)
    json.dump({"text": readable(request["html"], request["url"], request["format"])}, sys.stdout)


def readable(html: str, url: str, output_format: str) -> str:
    """Return the page without its navigation, unless there is nothing else."""
    text = _converted(html, url, output_format, _UNSEEN + _AROUND)
    return text or _converted(html, url, output_format, _UNSEEN)


def _converted(html: str, url: str, output_format: str, left_out: list[str]) -> str:
    options: dict[str, Any] = {
        "output_format": output_format,
        "base_url": url,
        "exclude_selectors": left_out,
        "extract_metadata": False,
        "inline_data_media": "alt_text_only",
        # The library's removal of navigation also removes the <header>, and with it the title.
        "preprocessing": PreprocessingOptions(enabled=True, remove_navigation=False, remove_forms=True),
    }
    return (convert(html, ConversionOptions(**options)).content or "").strip()


if __name__ == "__main__":
    main()
