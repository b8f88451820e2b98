"""Opens forks: because a person asked for one, or because another program works in the session."""

from coder_tui.agent.forks import told
from coder_tui.agent.session import Session
from coder_tui.bootstrap.core import Core
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.sessions import SessionInfo


async def open_fork(core: Core, session_id: str) -> Session:
    """A copy of a stored session; the session itself stays as it is."""
    info = await core.store.get(session_id)
    fork = await core.store.fork(info.id)
    session = await core.resume(fork.id)
    session.notice(NoticeLevel.INFO, told(info.id, fork))
    return session


async def resume_or_fork(core: Core, session_id: str) -> Session:
    """Go on with a stored session, or with a fork where that is open elsewhere."""
    info = await core.store.get(session_id)
    if await core.store.claim(info.id):
        return await core.resume(info.id)
    return await _stand_in(core, info)


async def _stand_in(core: Core, info: SessionInfo) -> Session:
    """It goes away with the program, unless something was sent in it."""
    session = await core.resume((await core.store.fork(info.id)).id)
    session.forks.keep_once_used()

    async def forget() -> None:
        if session.forks.is_unused:
            await core.store.delete(session.id)

    session.on_close(forget)
    session.notice(
        NoticeLevel.WARNING,
        f"“{info.title or 'untitled'}” is open in another coder-tui, which goes on with it. "
        "This is a fork: it is kept once you send something.",
    )
    return session
