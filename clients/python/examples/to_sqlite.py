"""Keeps the tables of an SQLite database in step with a team, for SQL, notebooks and dashboards.

    python3 to_sqlite.py ROOT TEAM FILE [--follow]

The position in the log and the rows change in one transaction. So after any end of this program, the next run continues without a gap and
without a repetition. `tasks` and `claims` are the state at the position; `events`, `messages` and `usage` grow.
"""

import argparse
import json
import sqlite3
from typing import Any, Dict, List

from teamlog_client import Client, local, types

SCHEMA = """
CREATE TABLE IF NOT EXISTS position (seq INTEGER NOT NULL);
INSERT INTO position SELECT 0 WHERE NOT EXISTS (SELECT * FROM position);
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, created_at TEXT NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL, agent TEXT,
    task_id TEXT, message_id TEXT, thread_id TEXT, trace_id TEXT, session_id TEXT, cause TEXT, payload TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS events_by_task ON events (task_id, seq);
CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, status TEXT NOT NULL, owner TEXT, epoch INTEGER NOT NULL, updated_seq INTEGER, task TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS claims (
    task_id TEXT PRIMARY KEY REFERENCES tasks (id), holder TEXT NOT NULL, epoch INTEGER NOT NULL, expires_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY REFERENCES events (seq), id TEXT NOT NULL, type TEXT NOT NULL, sender TEXT NOT NULL, recipient TEXT NOT NULL,
    task_id TEXT, priority TEXT, payload TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS usage (
    seq INTEGER PRIMARY KEY REFERENCES events (seq), agent TEXT NOT NULL, task_id TEXT, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL);
"""
REFS = ("agent", "task_id", "message_id", "thread_id", "trace_id", "session_id", "cause")
PAGE = 500


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


class Export:
    """The database, and the team that it follows."""

    def __init__(self, team: Client, path: str) -> None:
        self._team = team
        # The transactions of this program are explicit.
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.executescript(SCHEMA)

    def close(self) -> None:
        self._database.close()

    @property
    def position(self) -> int:
        """Seq of the last event in the database."""
        return int(self._database.execute("SELECT seq FROM position").fetchone()[0])

    def catch_up(self) -> int:
        """Stores the events up to the present end of the log, page by page. Returns their number."""
        stored = 0
        while True:
            page = self._team.list_events(after=self.position, limit=PAGE).data
            if page["next_after"] > self.position:
                self._store(page["events"], page["next_after"])
                stored += len(page["events"])
            if not page["more"]:
                return stored

    def follow(self) -> None:
        """Stores further events as they are recorded, until the program ends."""
        for event in self._team.events(after=self.position):
            # A page may have stored this event together with earlier ones.
            if event["seq"] > self.position:
                self.catch_up()

    def _store(self, events: List[types.Event], seq: int) -> None:
        before = self.position
        changed = self._tasks(before, seq) if any("task_id" in event for event in events) else []
        run = self._database.execute
        run("BEGIN IMMEDIATE")
        try:
            # Another run of this program may have stored these events meanwhile.
            if self.position == before:
                for event in events:
                    self._store_event(event)
                for task in changed:
                    self._store_task(task)
                run("UPDATE position SET seq = ?", (seq,))
            run("COMMIT")
        except BaseException:
            run("ROLLBACK")
            raise

    def _tasks(self, since: int, at: int) -> List[Dict[str, Any]]:
        """Returns the tasks that changed after a seq, as of another seq."""
        found: List[Dict[str, Any]] = []
        cursor = None
        while True:
            page = self._team.list_tasks(since=since, at=str(at), cursor=cursor).data
            found += page["tasks"]  # type: ignore[arg-type]
            cursor = page.get("nextCursor")
            if cursor is None:
                return found

    def _store_event(self, event: types.Event) -> None:
        run, payload = self._database.execute, event["payload"]
        refs = [event.get(name) for name in REFS]
        row = [event["seq"], event["id"], event["created_at"], event["kind"], event["actor"], *refs, text(payload)]
        run(f"INSERT INTO events VALUES ({', '.join('?' * len(row))})", row)
        if event["kind"] == "message_sent":
            message = payload["message"]
            row = [event["seq"], message["id"], message["type"], message["from"], message["to"], message.get("task_id"), message.get("priority")]
            run("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [*row, text(message.get("payload", {}))])
        elif event["kind"] == "usage_reported":
            row = [event["seq"], payload["worker"], payload.get("task_id"), payload["input_tokens"], payload["output_tokens"]]
            run("INSERT INTO usage VALUES (?, ?, ?, ?, ?)", row)

    def _store_task(self, task: Dict[str, Any]) -> None:
        run, lease = self._database.execute, task["lease"]
        row = [task["id"], task["title"], task["status"], task["owner"], task["epoch"], task.get("updatedSeq"), text(task)]
        run("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        run("DELETE FROM claims WHERE task_id = ?", (task["id"],))
        if lease is not None:
            run("INSERT INTO claims VALUES (?, ?, ?, ?)", (task["id"], lease["holder"], lease["epoch"], lease["expiresAt"]))


def main() -> None:
    arguments = argparse.ArgumentParser(description="Keeps the tables of an SQLite database in step with a team.")
    arguments.add_argument("root")
    arguments.add_argument("team")
    arguments.add_argument("file")
    arguments.add_argument("--follow", action="store_true", help="continue with new events")
    given = arguments.parse_args()
    with Client(local(given.root, given.team)) as team:
        export = Export(team, given.file)
        print(f"{export.catch_up()} events, up to {export.position}", flush=True)
        if given.follow:
            export.follow()
        export.close()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
