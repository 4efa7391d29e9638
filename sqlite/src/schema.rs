//! The tables of an export. docs/export.md has a row for each column; `tests/document.rs` compares it with the tables.

/// `application_id` in the header of the database: `tlog` in ASCII.
pub const APPLICATION_ID: i64 = 0x746c_6f67;

/// Version of the tables, in `user_version` of the database and in `teamlog_position`.
pub const SCHEMA_VERSION: i64 = 1;

/// Statements that create the tables and the views in an empty database.
pub(crate) const SCHEMA: &str = "
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    agent TEXT,
    task_id TEXT,
    message_id TEXT,
    thread_id TEXT,
    trace_id TEXT,
    session_id TEXT,
    key TEXT,
    cause TEXT,
    is_foreign INTEGER NOT NULL,
    schema_version INTEGER NOT NULL,
    payload TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_kind ON events (kind, seq);
CREATE INDEX events_by_task ON events (task_id, seq) WHERE task_id IS NOT NULL;
CREATE INDEX events_by_trace ON events (trace_id, seq) WHERE trace_id IS NOT NULL;

CREATE TABLE tags (
    tag TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES events (seq),
    PRIMARY KEY (tag, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
    id TEXT PRIMARY KEY NOT NULL,
    subject TEXT,
    status TEXT NOT NULL,
    priority TEXT NOT NULL,
    owner TEXT,
    assigned_by TEXT,
    parent TEXT,
    trace_id TEXT,
    epoch INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    started_at TEXT,
    completed_at TEXT,
    due_at TEXT,
    defer_until TEXT,
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    task TEXT NOT NULL
) STRICT;
CREATE INDEX tasks_by_status ON tasks (status, owner);

CREATE TABLE messages (
    id TEXT PRIMARY KEY NOT NULL,
    seq INTEGER NOT NULL UNIQUE REFERENCES events (seq),
    at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    type TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    priority TEXT NOT NULL,
    task_id TEXT,
    trace_id TEXT,
    payload TEXT NOT NULL,
    acked_seq INTEGER REFERENCES events (seq),
    acked_at TEXT
) STRICT;
CREATE INDEX messages_by_recipient ON messages (recipient, acked_seq);

CREATE TABLE claims (
    seq INTEGER PRIMARY KEY REFERENCES events (seq),
    task_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    holder TEXT NOT NULL,
    session TEXT,
    claimed_at TEXT NOT NULL,
    leased_until TEXT NOT NULL,
    renewals INTEGER NOT NULL,
    ended_seq INTEGER REFERENCES events (seq),
    ended_at TEXT,
    ended_by TEXT
) STRICT;
CREATE INDEX claims_by_task ON claims (task_id, epoch);
CREATE INDEX open_claims_by_task ON claims (task_id) WHERE ended_seq IS NULL;

CREATE TABLE usage (
    seq INTEGER PRIMARY KEY REFERENCES events (seq),
    at TEXT NOT NULL,
    agent TEXT NOT NULL,
    task_id TEXT,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    tokens INTEGER NOT NULL
) STRICT;

CREATE TABLE teamlog_position (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    team TEXT NOT NULL,
    log_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    event_id TEXT,
    schema_version INTEGER NOT NULL
) STRICT;

CREATE VIEW open_claims AS SELECT * FROM claims WHERE ended_seq IS NULL;
CREATE VIEW task_labels AS
    SELECT tasks.id AS task_id, label.value AS label FROM tasks, json_each(tasks.task, '$.labels') AS label;
CREATE VIEW task_dependencies AS
    SELECT tasks.id AS task_id, dep.value AS depends_on FROM tasks, json_each(tasks.task, '$.deps') AS dep;
";
