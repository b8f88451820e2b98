"""Characters that look like others are reported. Ordinary text in any language is not."""

import pytest

from coder_tui.text.confusables import MOST, Confusable, confusables


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\u0441url x", Confusable("\u0441url", "curl", "U+0441 cyrillic small letter es")),
        ("\u0441\u0440 a b", Confusable("\u0441\u0440", "cp", "U+0441 cyrillic small letter es")),
        (
            "pip install re\u03bfuests",
            Confusable("re\u03bfuests", "reouests", "U+03BF greek small letter omicron"),
        ),
        ("git cl\u217cne", Confusable("cl\u217cne", "cllne", "U+217C small roman numeral fifty")),
        (
            "\uff43\uff55\uff52\uff4c",
            Confusable("\uff43\uff55\uff52\uff4c", "curl", "U+FF43 fullwidth latin small letter c"),
        ),
        (
            "https://p\u0430ypal.com/",
            Confusable("p\u0430ypal.com", "paypal.com", "U+0430 cyrillic small letter a"),
        ),
        ("ls\u037e rm x", Confusable("\u037e", ";", "U+037E greek question mark")),
        ("ls \u2013la", Confusable("\u2013", "-", "U+2013 en dash")),
        ("ls\u00a0-la", Confusable("\u00a0", " ", "U+00A0 no-break space")),
        ("cat a\u2215b", Confusable("\u2215", "/", "U+2215 division slash")),
    ],
)
def test_text_that_looks_like_something_else_is_reported(text: str, found: Confusable) -> None:
    assert confusables(text) == (found,)


@pytest.mark.parametrize(
    "text",
    [
        "curl https://example.com",
        "echo caf\u00e9 na\u00efve gr\u00f6\u00dfe",
        "git commit -m '\u0438\u0441\u043f\u0440\u0430\u0432\u0438\u0442\u044c\u0448'",
        "echo \u65e5\u672c\u8a9e \ud55c\uad6d\uc5b4",
        "echo \u03ba\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1",
        "echo 10 m\u00b2 \u2713 \U0001f600",
    ],
)
def test_ordinary_text_is_not_reported(text: str) -> None:
    assert confusables(text) == ()


def test_many_lookalikes_are_reported_once_and_briefly() -> None:
    assert len(confusables("\u0441url " * 1000)) == 1
    assert len(confusables(" ".join(f"\u0441url{number}" for number in range(1000)))) == MOST
