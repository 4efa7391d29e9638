"""Copies the events of a subscription into SQLite, each exactly once.

    python3 subscription_to_sqlite.py TEAM DATABASE [--once]

The seq of the last event is in the same transaction as the event. After a crash the program continues at this seq, whatever the
subscription has stored, so no event is missing and no event is there twice.
"""

import json
import sqlite3
import subprocess
import sys


def main(team, database, *options):
    db = sqlite3.connect(database)
    db.execute("CREATE TABLE IF NOT EXISTS position (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER)")
    db.execute("CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY, kind TEXT, actor TEXT, task TEXT, payload TEXT)")
    db.execute("INSERT OR IGNORE INTO position VALUES (1, 0)")
    db.commit()
    (seq,) = db.execute("SELECT seq FROM position").fetchone()
    command = ["teamlog", "subscribe", team, "sqlite", "--from", str(seq), "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as events:
        for line in events.stdout:
            event = json.loads(line)
            if event["seq"] <= seq:
                continue
            seq = event["seq"]
            row = (seq, event["kind"], event["actor"], event.get("task_id"), json.dumps(event["payload"]))
            with db:  # One transaction: the event and its seq.
                db.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", row)
                db.execute("UPDATE position SET seq = ?", (seq,))
    sys.exit(events.returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
