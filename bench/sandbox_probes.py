"""Try to break out of the sandbox for real: no probe may get through, but without it they do.

uv run python -m bench.sandbox_probes [--landlock] [--no-controls] [--only WORDS]
"""

import argparse
import os
import sys
from dataclasses import dataclass, field

from bench.sandbox_probe_list import PROBES, Probe
from bench.sandbox_world import World, run, world
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from tests.fakes.shells import BUBBLEWRAP, LANDLOCK, UNCONFINED


@dataclass
class Found:
    """`escaped` got through; `idle` did not even without a sandbox, so they prove nothing here."""

    tried: int = 0
    escaped: list[str] = field(default_factory=list)
    controls: int = 0
    idle: list[str] = field(default_factory=list)


def attempt(probe: Probe, status: SandboxStatus) -> bool:
    """Return whether the probe got through, in its own world."""
    with world() as around:
        return _gets_through(probe, status, around)


def _gets_through(probe: Probe, status: SandboxStatus, around: World) -> bool:
    code = run(around, probe.command, status)
    is_left = bool(probe.leaves) and (around.outside / probe.leaves).exists()
    is_tampered = (around.outside / "file").read_text() != "outside\n"
    return code == 0 or is_left or is_tampered


def may_control(probe: Probe) -> bool:
    return probe.has_control and (not probe.needs_root or os.getuid() == 0)


def try_all(status: SandboxStatus, only: str, *, with_controls: bool) -> Found:
    found = Found()
    for probe in PROBES:
        if only and only not in probe.name:
            continue
        found.tried += 1
        if attempt(probe, status):
            found.escaped.append(probe.name)
        if with_controls and may_control(probe):
            found.controls += 1
            if not attempt(probe, UNCONFINED):
                found.idle.append(probe.name)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--landlock", action="store_true", help="try the fallback")
    parser.add_argument("--no-controls", action="store_true", help="only inside of the sandbox")
    parser.add_argument("--only", default="", help="probes with these words in their name")
    arguments = parser.parse_args()
    status = LANDLOCK if arguments.landlock else BUBBLEWRAP
    found = try_all(status, arguments.only, with_controls=not arguments.no_controls)
    print(f"{status.kind}: {found.tried} probes, {len(found.escaped)} got through")
    for name in found.escaped:
        print(f"  through: {name}")
    print(f"without a sandbox: {found.controls - len(found.idle)} of {found.controls} controls get through")
    for name in found.idle:
        print(f"  not even then: {name}")
    return 1 if found.escaped else 0


if __name__ == "__main__":
    sys.exit(main())
