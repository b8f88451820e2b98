"""Decodes a body: by its mark, its declaration, or what its bytes look like; nothing makes it fail."""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PARAMETER = re.compile(r"charset\s*=\s*[\"']?([\w.:+-]+)", re.IGNORECASE)
_META = re.compile(
    rb"<(?:meta|\?xml)\b[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:+-]+)", re.IGNORECASE
)
_META_BYTES = 4_096
# Python knows more codecs, but some of them are no character sets.
_KNOWN = re.compile(
    r"utf-(8|16|16-le|16-be|32|32-le|32-be)|ascii|iso8859-\d+|cp(125\d|437|65001|8\d\d|932|936|949|950)|koi8-[rut]"
    r"|mac-\w+|gb2312|gbk|gb18030|hz|big5(hkscs)?|shift_jis\w*|euc_\w+|iso2022_\w+|johab|tis-620"
)
_FALLBACK = "cp1252"
# As browsers read them.
_WIDENED = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-9": "cp1254",
}


def decode_body(data: bytes, content_type: str) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    declared = _declared(content_type) or _in_page(data)
    if wide := _looks_wide(data):
        return data.decode(wide, "replace")
    text = _strictly(data, "utf-8")
    # Bytes of another set that happen to be valid UTF-8 are rare; wrong declarations are not.
    if text is not None and (declared in ("", "utf-8") or _is_single_byte(declared)):
        return text
    if declared:
        text = _strictly(data, declared)
        return text if text is not None else _somehow(data, declared)
    return _guessed(data)


def _declared(content_type: str) -> str:
    found = _PARAMETER.search(content_type)
    return _codec(found[1]) if found else ""


def _in_page(data: bytes) -> str:
    found = _META.search(data[:_META_BYTES])
    name = _codec(found[1].decode("ascii", "replace")) if found else ""
    # The declaration could be read, so the page is not in wide characters whatever it says.
    return "utf-8" if name.startswith(("utf-16", "utf-32")) else name


def _codec(name: str) -> str:
    """Our name of a character set; empty for an unknown one."""
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return _WIDENED.get(known, known) if _KNOWN.fullmatch(known) else ""


def _is_single_byte(name: str) -> bool:
    return name.startswith(("cp125", "iso8859", "koi8", "mac", "tis", "cp4", "cp8"))


def _strictly(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        # A body that was cut may end in half a character.
        is_at_end = error.end >= len(data) and len(data) - error.start < 4 and error.start > 0
        return data[: error.start].decode(name) if is_at_end else None


def _somehow(data: bytes, declared: str) -> str:
    """The declaration is wrong, or a few bytes are: whichever loses less."""
    return min(
        (data.decode(name, "replace") for name in (declared, "utf-8", _FALLBACK)),
        key=lambda text: text.count("\ufffd"),
    )


def _looks_wide(data: bytes) -> str:
    """Latin letters of two bytes each have a NUL in every pair."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    if max(even, odd) <= len(data) * 0.4 or min(even, odd) > len(data) * 0.1:
        return ""
    return "utf-16-be" if even > odd else "utf-16-le"


def _guessed(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    # A few broken characters in much that is right: it is UTF-8 with a fault.
    broken, other = text.count("\ufffd"), sum(char > "\x7f" for char in text)
    return text if other > 4 * broken else data.decode(_FALLBACK, "replace")
