"""The `skill` tool: list the skills, and load the instructions of one."""

import asyncio
from collections.abc import Callable
from typing import Literal

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from rapidfuzz import process

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import MarkdownBlock, TableBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.skills.session_skills import SessionSkills, SkillError, skill_action
from coder_tui.skills.skill import LONGEST_NAME, Skill
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult

MOST_CHOICES = 100
"""Names in the definition. With more, `list` finds them, and every request stays small."""
ALREADY = "This skill is already loaded: its text is earlier in this conversation. Continue with it."


class SkillParams(Params):
    action: Literal["list", "load"]
    name: str | None = None


class SkillTool(Tool[SkillParams]):
    name = "skill"
    kind = ToolKind.READ
    display_name = "Skill"
    permission = "skill"

    def __init__(self, skills: SessionSkills) -> None:
        self._skills = skills
        self.params = _params_naming(skills.offered)

    def summary(self, params: SkillParams) -> str:
        return f"{params.action} {params.name[:LONGEST_NAME]}" if params.name else params.action

    async def access(self, params: SkillParams, ctx: ToolContext) -> Access | None:
        if params.action == "list":
            return None
        name = self._wanted(params).name
        return Access(skill_action(name).targets, TextBlock(f"Load the instructions of the skill {name}."))

    async def run(self, params: SkillParams, ctx: ToolContext) -> ToolResult:
        if params.action == "list":
            await asyncio.to_thread(self._skills.refresh)
            return self._listed()
        skill = self._wanted(params)
        if self._skills.is_loaded(skill.name):
            fields = {"ok": True, "name": skill.name, "content": ALREADY, "directory": str(skill.directory)}
            return ToolResult({**fields, "files": []}, TextBlock("already loaded"))
        return await self._loaded(skill)

    async def _loaded(self, skill: Skill) -> ToolResult:
        try:
            loaded = await asyncio.to_thread(self._skills.load, skill)
        except SkillError as error:
            raise ToolError(
                ErrorType.EXECUTION_FAILED,
                f"The skill {skill.name} cannot be loaded: {error}",
                "Continue without it, and tell the user.",
            ) from error
        fields = {
            "ok": True,
            "name": skill.name,
            "content": loaded.text,
            "directory": str(skill.directory),
            "files": list(loaded.files),
        }
        return ToolResult(fields, MarkdownBlock(loaded.skill.body), f"loaded {skill.name} ({skill.source})")

    def _listed(self) -> ToolResult:
        skills = self._skills.available()
        rows = tuple((skill.name, str(skill.source), skill.description) for skill in skills)
        listed = [
            {"name": name, "source": source, "description": description} for name, source, description in rows
        ]
        count = f"{len(rows)} {'skill' if len(rows) == 1 else 'skills'}"
        shown = TableBlock(("Skill", "Source", "Description"), rows)
        return ToolResult({"ok": True, "skills": listed}, shown, count)

    def _wanted(self, params: SkillParams) -> Skill:
        """Return the skill that is meant. Names are compared, never joined to a path."""
        if params.name is None:
            raise ToolError(ErrorType.INVALID_TOOL_PARAMS, "invalid args: name: load needs the skill's name")
        skill = self._skills.find(params.name)
        if skill is None or not skill.is_for_model:
            names = [skill.name for skill in self._skills.available()]
            nearest = [near for near, _, _ in process.extract(params.name, names, limit=3)]
            hint = f"The nearest are: {', '.join(nearest)}." if nearest else "There are no skills here."
            message = f"invalid args: name: no skill {params.name[:LONGEST_NAME]!r}"
            raise ToolError(ErrorType.INVALID_TOOL_PARAMS, message, hint)
        return skill


def _params_naming(skills: Callable[[], tuple[Skill, ...]]) -> type[SkillParams]:
    """Offer the names as choices. Policy judges the call first, whether the skill is known or not."""

    class NamedParams(SkillParams):
        @classmethod
        def __get_pydantic_json_schema__(
            cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
        ) -> JsonSchemaValue:
            schema = handler(core_schema)
            # Asked each time: what is denied may change with the active agent.
            names = [skill.name for skill in skills()]
            if 0 < len(names) <= MOST_CHOICES:
                handler.resolve_ref_schema(schema)["properties"]["name"] = {"type": "string", "enum": names}
            return schema

    return NamedParams
