"""The schema's history: each entry leads from its place in the list to the next version."""

Migration = tuple[str, ...]

_FIRST: Migration = (
    # `activity` orders sessions by use: a clock that was set back must not change which is the latest.
    """CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        directory TEXT NOT NULL,
        model TEXT NOT NULL,
        mode TEXT NOT NULL,
        created REAL NOT NULL,
        updated REAL NOT NULL,
        activity INTEGER NOT NULL,
        todos TEXT NOT NULL DEFAULT '[]'
    ) STRICT""",
    "CREATE INDEX sessions_by_activity ON sessions (activity)",
    "CREATE INDEX sessions_by_directory ON sessions (directory, activity)",
    """CREATE TABLE messages (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        message_id TEXT NOT NULL,
        role TEXT NOT NULL,
        body TEXT NOT NULL,
        created REAL NOT NULL,
        UNIQUE (session_id, seq)
    ) STRICT""",
    """CREATE TABLE calls (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        call_id TEXT NOT NULL,
        message_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        arguments TEXT NOT NULL,
        kind TEXT NOT NULL,
        proposed_summary TEXT NOT NULL,
        started REAL NOT NULL,
        outcome TEXT,
        result TEXT,
        display TEXT,
        summary TEXT,
        duration_ms INTEGER NOT NULL DEFAULT 0,
        UNIQUE (session_id, call_id)
    ) STRICT""",
    """CREATE TABLE usage (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        message_id TEXT NOT NULL,
        model TEXT NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL,
        cache_write_tokens INTEGER NOT NULL,
        reasoning_tokens INTEGER NOT NULL,
        cost REAL,
        created REAL NOT NULL
    ) STRICT""",
    "CREATE INDEX usage_by_session ON usage (session_id)",
    """CREATE TABLE decisions (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        tool TEXT NOT NULL,
        effect TEXT NOT NULL,
        rule TEXT NOT NULL,
        source TEXT NOT NULL,
        answer TEXT NOT NULL,
        created REAL NOT NULL,
        UNIQUE (session_id, seq)
    ) STRICT""",
)

_CHANGES: Migration = (
    """CREATE TABLE changes (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        call_id TEXT NOT NULL,
        path TEXT NOT NULL,
        before_kind TEXT NOT NULL,
        before_content TEXT NOT NULL,
        before_mode INTEGER NOT NULL,
        after_kind TEXT,
        after_content TEXT,
        after_mode INTEGER,
        is_undone INTEGER NOT NULL DEFAULT 0,
        created REAL NOT NULL,
        UNIQUE (session_id, seq)
    ) STRICT""",
    "CREATE INDEX changes_by_turn ON changes (session_id, turn)",
)

_CHILDREN: Migration = (
    "ALTER TABLE sessions ADD COLUMN parent_id TEXT REFERENCES sessions (id) ON DELETE CASCADE",
    "CREATE INDEX sessions_by_parent ON sessions (parent_id)",
    """CREATE TABLE children (
        child_id TEXT NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
        call_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        state TEXT NOT NULL,
        summary TEXT NOT NULL DEFAULT '',
        seconds INTEGER NOT NULL DEFAULT 0
    ) STRICT""",
)

_LEADS: Migration = (
    """CREATE TABLE leads (
        session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
        profile TEXT NOT NULL DEFAULT '',
        plan TEXT NOT NULL DEFAULT ''
    ) STRICT""",
)

_TURNS: Migration = (
    """CREATE TABLE turns (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        turn INTEGER NOT NULL,
        first_seq INTEGER NOT NULL,
        is_unsaid INTEGER NOT NULL DEFAULT 0,
        are_files_undone INTEGER NOT NULL DEFAULT 0,
        is_over INTEGER NOT NULL DEFAULT 0,
        todos_before TEXT NOT NULL DEFAULT '[]',
        todos_after TEXT NOT NULL DEFAULT '[]',
        UNIQUE (session_id, turn)
    ) STRICT""",
    # The turn with which a message was taken back; NULL where it counts.
    "ALTER TABLE messages ADD COLUMN unsaid_with INTEGER",
)

_COMPACTIONS: Migration = (
    """CREATE TABLE compactions (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        last_id TEXT NOT NULL,
        summary TEXT NOT NULL,
        pruned TEXT NOT NULL,
        is_undone INTEGER NOT NULL DEFAULT 0,
        created REAL NOT NULL,
        UNIQUE (session_id, number)
    ) STRICT""",
    """CREATE TABLE pins (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        text TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX pins_by_session ON pins (session_id)",
)

_VERIFY_CHOICES: Migration = (
    "CREATE TABLE verify_choices (directory TEXT PRIMARY KEY, command TEXT NOT NULL) STRICT",
)

MIGRATIONS: tuple[Migration, ...] = (
    _FIRST,
    _CHANGES,
    _CHILDREN,
    _LEADS,
    _TURNS,
    _COMPACTIONS,
    _VERIFY_CHOICES,
)
"""Append only: a released entry is somebody's database."""
