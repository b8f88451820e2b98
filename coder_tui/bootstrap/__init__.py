"""The composition root of the core: settings, store, model, tools and policy become a session."""

from coder_tui.bootstrap.core import Core
from coder_tui.bootstrap.policy import SavedGrants, build_policy
from coder_tui.bootstrap.setup import Setup, find_sandbox, load_setup
from coder_tui.bootstrap.workbench import (
    Workbench,
    build_registry,
    build_shell,
    build_skills,
    build_workbench,
)

__all__ = [
    "Core",
    "SavedGrants",
    "Setup",
    "Workbench",
    "build_policy",
    "build_registry",
    "build_shell",
    "build_skills",
    "build_workbench",
    "find_sandbox",
    "load_setup",
]
