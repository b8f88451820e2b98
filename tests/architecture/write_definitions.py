"""Writes what models see of the tools into the snapshot: `python -m tests.architecture.write_definitions`."""

import json

from tests.architecture.test_tool_contract import SNAPSHOT, definitions

if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(definitions(), indent=1) + "\n", encoding="utf-8")
