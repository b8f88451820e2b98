"""What goes through the pipe comes out the same."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.llm.client import (
    ModelInfo,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
    error_from_json,
    item_from_json,
    item_to_json,
)
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.messages import FinishReason, ThinkingBlock, Usage

BLOCKS = st.builds(ThinkingBlock, st.text(), st.none() | st.text(), st.none() | st.text())
ITEMS = st.one_of(
    st.builds(TextChunk, st.text()),
    st.builds(ThinkingChunk, st.text()),
    st.builds(ToolCallChunk, st.integers(0, 9), st.text(), st.text(), st.text()),
    st.builds(
        StreamFinished,
        st.sampled_from(FinishReason),
        st.lists(BLOCKS).map(tuple),
        st.builds(Usage, cost=st.none() | st.floats(0, 100)),
    ),
)


@given(ITEMS)
def test_every_stream_item_survives_the_pipe(item: StreamItem) -> None:
    assert item_from_json(json.loads(json.dumps(item_to_json(item)))) == item


def test_an_error_survives_the_pipe() -> None:
    error = ModelError(ModelErrorKind.RATE_LIMIT, "Too fast.", "Wait.", 7.5)
    assert error_from_json(json.loads(json.dumps(asdict(error)))) == error


def test_model_facts_survive_the_pipe() -> None:
    info = ModelInfo(1000, 100, 1.5, None, True, None, False)
    assert ModelInfo(**json.loads(json.dumps(asdict(info)))) == info


def test_an_unknown_item_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown stream item: song"):
        item_from_json({"type": "song"})
