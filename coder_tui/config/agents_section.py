"""Settings of agents: when they may ask, and agents of one's own."""

from typing import Literal

from pydantic import Field

from coder_tui.config.section import Section

QuestionsWhen = Literal["plan", "always"]


class AgentsSection(Section):
    """`custom` has a table for each agent, with the fields of an agent's file, and checked as there."""

    questions: QuestionsWhen = "plan"
    custom: dict[str, dict[str, object]] = Field(default_factory=dict)
