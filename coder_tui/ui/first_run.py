"""Opens the first session; without a model it offers a key, a local server or the demo."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.chrome.banners import TooSmall
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import FirstRun, Launch
from coder_tui.ui.lists.picker import Hint, KeyPicker
from coder_tui.ui.lists.row_list import Item
from coder_tui.ui.requests.trust import ask_for_trust

if TYPE_CHECKING:
    from coder_tui.agent.session import Session
    from coder_tui.ui.session.screen import SessionScreen


@dataclass(frozen=True, slots=True)
class KeyState:
    """A provider; `source` is where its key comes from, empty if it has none."""

    provider: str
    label: str
    variable: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class FirstRunState:
    keys: tuple[KeyState, ...]
    has_trust_question: bool = False


WAITS = "There is no model yet. You will be asked for one once your draft is sent or empty."
LEFT = "no model yet: 'coder-tui config key' saves a key, 'coder-tui demo' needs none"


class LeftError(UserError):
    """The user left instead."""

    exit_code = 0


async def open_first(app: App[Any], screen: "SessionScreen", launch: Launch) -> "Session":
    """Ask about trust and a model, then open the session; an empty answer starts the demo."""
    await ask_for_trust(app, screen, launch)
    while (state := await launch.first_run.question()) is not None and not TooSmall.is_too_small(app.size):
        match await _answer(app, screen, launch, state):
            case FirstRunAnswer.TRUST:
                await ask_for_trust(app, screen, launch)
            case FirstRunAnswer.LEAVE:
                raise LeftError(LEFT)
            case FirstRunAnswer.DEMO | None:
                break
            case FirstRunAnswer.LOOK:
                pass
    return await launch.open_session()


async def _answer(
    app: App[Any], screen: "SessionScreen", launch: Launch, state: FirstRunState
) -> "FirstRunAnswer | None":
    if not screen.prompt.is_empty:
        screen.transcript.add_note(NoticeLevel.INFO, WAITS)
    await screen.widgets.presenter.wait_for_quiet()
    picker = FirstRunScreen(screen.chrome, state, launch.first_run)
    answer = await app.push_screen_wait(picker)
    if picker.key_notice:
        screen.transcript.add_note(NoticeLevel.INFO, picker.key_notice)
    return FirstRunAnswer(answer) if answer else None


_DEMO_NOTE = (
    "No model key and no local server was found. The demo needs neither: it works on its own sample project "
    "and does not touch your files."
)
_KEY_NOTE = "Enter, then type or paste the key: it is not shown and goes to the system keyring. Or set {}."
_ASKING = "Type or paste it: it is not shown. Enter saves it in the system keyring, Esc goes back."
_UNDECIDED = "This folder has its own settings. Until you trust them, they can only make rules stricter."
_DECIDED = "This folder has nothing that needs your trust, or you have already decided."
_LOCAL_NOTE = "Ollama, LM Studio, llama.cpp or vLLM on this machine. Start one, then look again."


class FirstRunAnswer(StrEnum):
    DEMO = "demo"
    LOOK = "look"
    """A key was saved, or a server may have been started."""
    TRUST = "trust"
    LEAVE = "leave"


class FirstRunScreen(KeyPicker):
    """Ends with a `FirstRunAnswer`."""

    BINDINGS = bindings(Context.FIRST_RUN)
    help_context = Context.FIRST_RUN
    heading = "Welcome to coder-tui"
    types_at_once = False
    hints: ClassVar[tuple[Hint, ...]] = (
        ("Enter", "choose"),
        ("d", "demo"),
        ("r", "look again"),
        ("t", "trust"),
        ("q", "quit"),
        ("Up Down", "move"),
    )

    def __init__(self, chrome: Chrome, state: FirstRunState, first_run: FirstRun) -> None:
        super().__init__(chrome)
        self._state = state
        self._first_run = first_run
        self._by_name = {key.provider: key for key in state.keys}

    def fill(self) -> None:
        demo = Item(FirstRunAnswer.DEMO, "Try the demo now", "demo", ("no key, no network",), _DEMO_NOTE)
        local = Item(
            FirstRunAnswer.LOOK, "Look again for a local server", "model", ("none answers",), _LOCAL_NOTE
        )
        self.list.show([demo, *map(self._key_item, self._state.keys), local, self._trust_item()])

    def choose(self, item: Item) -> None:
        key = self._by_name.get(item.key)
        if key is None and item.is_ready:
            self.dismiss(item.key)
        elif key is None:
            self.show_note(item.note)
        else:
            store = partial(self._first_run.keep_key, key.provider)
            self.ask_key(key.label, _ASKING, store, FirstRunAnswer.LOOK)

    def action_demo(self) -> None:
        self.dismiss(FirstRunAnswer.DEMO)

    def action_look(self) -> None:
        self.dismiss(FirstRunAnswer.LOOK)

    def action_trust(self) -> None:
        self.choose(self._trust_item())

    def action_leave(self) -> None:
        self.dismiss(FirstRunAnswer.LEAVE)

    def _key_item(self, key: KeyState) -> Item:
        state = f"{self.chrome.ok} {key.source}" if key.source else f"{self.chrome.failed} no key"
        width = max(len(each.label) for each in self._state.keys)
        label = f"{key.label:<{width}}  {key.variable}"
        return Item(key.provider, label, "key", (state,), _KEY_NOTE.format(key.variable))

    def _trust_item(self) -> Item:
        asks = self._state.has_trust_question
        state, note = ("not decided", _UNDECIDED) if asks else ("nothing to decide", _DECIDED)
        label = "Settings of this folder"
        return Item(FirstRunAnswer.TRUST, label, "trust", (state,), note, is_ready=asks)
