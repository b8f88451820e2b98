"""Lines of keys in JSON."""

from coder_tui.config.settings_file import json_lines

_TEXT = r"""{
  "bash": {"shell": "a\"b: {", "timeout_ms":
    5},
  "workspace": {
    "extra_roots": ["a", {"x": 1},
      [2]]
  },
  "esc\u0061ped": {}, "empty": []
}"""


def test_every_key_has_the_line_it_is_written_on() -> None:
    assert json_lines(_TEXT) == {
        ("bash",): 2,
        ("bash", "shell"): 2,
        ("bash", "timeout_ms"): 2,
        ("workspace",): 4,
        ("workspace", "extra_roots"): 5,
        ("workspace", "extra_roots", 0): 5,
        ("workspace", "extra_roots", 1): 5,
        ("workspace", "extra_roots", 1, "x"): 5,
        ("workspace", "extra_roots", 2): 6,
        ("workspace", "extra_roots", 2, 0): 6,
        ("escaped",): 8,
        ("empty",): 8,
    }
