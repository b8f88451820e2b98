"""What a person can set for a session in their editor: its mode and its model."""

from collections.abc import Iterable

from acp.schema import ConfigOptionUpdate, SessionConfigOptionSelect, SessionConfigSelectOption

from coder_tui.acp.modes import MODES
from coder_tui.protocol.access import Mode
from coder_tui.text.safe_text import safe_line

MODE, MODEL = "mode", "model"
Options = list[SessionConfigOptionSelect]


def options_of(mode: Mode, model: str, models: Iterable[str]) -> Options:
    """The whole set, as the protocol wants it each time."""
    names = dict.fromkeys((model, *models))
    return [
        SessionConfigOptionSelect(
            id=MODE,
            name="Mode",
            description="What happens without a question",
            category="mode",
            type="select",
            current_value=mode.value,
            options=[
                SessionConfigSelectOption(value=each.value, name=name, description=about)
                for each, (name, about) in MODES.items()
            ],
        ),
        SessionConfigOptionSelect(
            id=MODEL,
            name="Model",
            category="model",
            type="select",
            current_value=model,
            options=[SessionConfigSelectOption(value=name, name=safe_line(name)) for name in names],
        ),
    ]


def update_options(options: Options) -> ConfigOptionUpdate:
    return ConfigOptionUpdate(session_update="config_option_update", config_options=[*options])
