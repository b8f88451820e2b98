"""The schema's history: each entry migrates from its position in the list to the next version."""

Migration = tuple[str, ...]

_FIRST: Migration = (
    # `activity` orders sessions by use, even if the clock is set back.
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
    # The turn with which a message was undone; NULL if it is in effect.
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

LONGEST_SEARCHED = 100_000
"""Characters of a message that can be searched; longer texts were pasted."""


def _said(row: str) -> str:
    """Return the SQL for a message's text; text with broken characters is stored and searched escaped."""
    words = f"CASE WHEN json_valid({row}.body) THEN json_extract({row}.body, '$.text') ELSE {row}.body END"
    return f"substr(coalesce({words}, ''), 1, {LONGEST_SEARCHED})"


def _is_listed(row: str) -> str:
    """Return the SQL for "not a sub-agent's": those are found through their session."""
    return f"(SELECT parent_id FROM sessions WHERE id = {row}.session_id) IS NULL"


_PASSAGE = "INSERT INTO passages (session_id, message_id, text)"
_OF_USER_OR_MODEL = "role IN ('user', 'assistant')"

# A passage is a unit of search: a title (without a message), a message's text, a call's summary.
_SEARCH: Migration = (
    """CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        message_id TEXT NOT NULL,
        text TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX passages_by_message ON passages (session_id, message_id)",
    "CREATE VIRTUAL TABLE passage_words USING fts5 "
    "(text, content = 'passages', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', "
    "prefix = '2 3')",
    f"{_PASSAGE} SELECT id, '', title FROM sessions WHERE parent_id IS NULL AND title <> ''",
    f"{_PASSAGE} SELECT session_id, message_id, {_said('messages')} FROM messages "
    f"WHERE {_OF_USER_OR_MODEL} AND unsaid_with IS NULL AND {_is_listed('messages')} "
    f"AND {_said('messages')} <> ''",
    f"{_PASSAGE} SELECT session_id, message_id, proposed_summary FROM calls "
    f"WHERE proposed_summary <> '' AND {_is_listed('calls')} AND (session_id, message_id) NOT IN "
    "(SELECT session_id, message_id FROM messages WHERE unsaid_with IS NOT NULL)",
    "INSERT INTO passage_words (passage_words) VALUES ('rebuild')",
    """CREATE TRIGGER passage_added AFTER INSERT ON passages BEGIN
        INSERT INTO passage_words (rowid, text) VALUES (new.id, new.text);
    END""",
    """CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
        INSERT INTO passage_words (passage_words, rowid, text) VALUES ('delete', old.id, old.text);
    END""",
    f"""CREATE TRIGGER title_begun AFTER INSERT ON sessions
    WHEN new.parent_id IS NULL AND new.title <> '' BEGIN
        {_PASSAGE} VALUES (new.id, '', new.title);
    END""",
    f"""CREATE TRIGGER title_given AFTER UPDATE OF title ON sessions WHEN new.parent_id IS NULL BEGIN
        DELETE FROM passages WHERE session_id = new.id AND message_id = '';
        {_PASSAGE} VALUES (new.id, '', new.title);
    END""",
    f"""CREATE TRIGGER message_said AFTER INSERT ON messages
    WHEN new.{_OF_USER_OR_MODEL} AND new.unsaid_with IS NULL AND {_is_listed("new")} BEGIN
        {_PASSAGE} SELECT new.session_id, new.message_id, {_said("new")} WHERE {_said("new")} <> '';
    END""",
    f"""CREATE TRIGGER call_made AFTER INSERT ON calls
    WHEN new.proposed_summary <> '' AND {_is_listed("new")} BEGIN
        {_PASSAGE} VALUES (new.session_id, new.message_id, new.proposed_summary);
    END""",
    """CREATE TRIGGER message_unsaid AFTER UPDATE OF unsaid_with ON messages
    WHEN new.unsaid_with IS NOT NULL BEGIN
        DELETE FROM passages WHERE session_id = new.session_id AND message_id = new.message_id;
    END""",
    f"""CREATE TRIGGER message_said_again AFTER UPDATE OF unsaid_with ON messages
    WHEN new.unsaid_with IS NULL AND old.unsaid_with IS NOT NULL
    AND new.{_OF_USER_OR_MODEL} AND {_is_listed("new")} BEGIN
        {_PASSAGE} SELECT new.session_id, new.message_id, {_said("new")} WHERE {_said("new")} <> '';
        {_PASSAGE} SELECT session_id, message_id, proposed_summary FROM calls
            WHERE session_id = new.session_id AND message_id = new.message_id AND proposed_summary <> '';
    END""",
)

# When a session was deleted; it can be restored until the trash is emptied.
_TRASH: Migration = ("ALTER TABLE sessions ADD COLUMN trashed REAL",)

# The turn of a call (0: unknown), and its sub-agent (empty: none).
_SPENDING: Migration = (
    "ALTER TABLE usage ADD COLUMN turn INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE usage ADD COLUMN child_id TEXT NOT NULL DEFAULT ''",
)

# Whether a change was found by comparison (else its call declared it), and when it was finished.
_COMMANDS: Migration = (
    "ALTER TABLE changes ADD COLUMN is_seen INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE changes ADD COLUMN ended REAL",
    "CREATE INDEX changes_by_end ON changes (ended)",
    # A command without an end was running when the program was killed.
    """CREATE TABLE commands (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        turn INTEGER NOT NULL,
        left_out TEXT NOT NULL,
        is_ended INTEGER NOT NULL DEFAULT 0,
        UNIQUE (session_id, number)
    ) STRICT""",
)

MIGRATIONS: tuple[Migration, ...] = (
    _FIRST,
    _CHANGES,
    _CHILDREN,
    _LEADS,
    _TURNS,
    _COMPACTIONS,
    _VERIFY_CHOICES,
    _SEARCH,
    _TRASH,
    _SPENDING,
    _COMMANDS,
)
"""Append only: released entries describe existing databases."""
