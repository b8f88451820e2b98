"""Names sessions so that they sort by age and two processes never choose the same."""

import secrets
import time

# Crockford's base 32: no letter that could be read as a digit.
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_LENGTH = 9
_RANDOM_LENGTH = 5


def new_session_id() -> str:
    """Nine characters of time in milliseconds, enough beyond the year 3000, and five of chance."""
    return _base32(time.time_ns() // 1_000_000, _TIME_LENGTH) + "".join(
        secrets.choice(_DIGITS) for _ in range(_RANDOM_LENGTH)
    )


def _base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
