"""The base of every settings section: closed, so that a typing mistake is seen, and frozen."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
