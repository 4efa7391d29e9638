"""The example `to_sqlite.py` against a daemon: a run, a second run, and a run that follows and is killed."""

import os
import sqlite3
import subprocess
import sys
import time
import unittest
from pathlib import Path

from teamlog_client import Client, local

sys.path.insert(0, str(Path(__file__).parent))
from daemon import TEAM, DaemonTest  # noqa: E402

PROGRAM = Path(__file__).parent.parent / "examples" / "to_sqlite.py"


class ToSqliteTest(DaemonTest):
    def setUp(self) -> None:
        super().setUp()
        self.team = Client(local(self.root, TEAM))
        self.addCleanup(self.team.close)
        self.file = self.root / "team.db"

    def command(self, *options: str) -> list:
        return [sys.executable, str(PROGRAM), str(self.root), TEAM, str(self.file), *options]

    def rows(self, query: str) -> list:
        database = sqlite3.connect(self.file)
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()

    def last_seq(self) -> int:
        return self.team.list_events(limit=1).data["last_seq"]

    def check(self) -> None:
        """Compares the database with the team."""
        last = self.last_seq()
        self.assertEqual(self.rows("SELECT seq FROM position"), [(last,)])
        self.assertEqual(self.rows("SELECT seq FROM events ORDER BY seq"), [(seq,) for seq in range(1, last + 1)])
        tasks = self.team.list_tasks().data["tasks"]
        self.assertEqual(
            sorted(self.rows("SELECT id, title, status, owner FROM tasks")),
            sorted((task["id"], task["title"], task["status"], task["owner"]) for task in tasks),
        )
        claims = [(task["id"], task["lease"]["holder"]) for task in tasks if task["lease"] is not None]
        self.assertEqual(sorted(self.rows("SELECT task_id, holder FROM claims")), sorted(claims))

    def test_a_second_run_continues(self) -> None:
        for title in ("one", "two", "three"):
            self.team.create_task(title=title)
        self.team.claim_task("1", agent_id="ada")
        self.team.claim_task("2", agent_id="bob")
        self.team.api_send_message(from_worker="ada", to_worker="bob", body="hello")
        self.team.report_usage(agent_id="ada", input_tokens=900, output_tokens=100)
        subprocess.run(self.command(), check=True, stdout=subprocess.DEVNULL)
        self.check()
        self.assertEqual(self.rows("SELECT sender, recipient FROM messages"), [("ada", "bob")])
        self.assertEqual(self.rows("SELECT agent, input_tokens, output_tokens FROM usage"), [("ada", 900, 100)])
        self.team.complete_task("1", epoch=1)
        subprocess.run(self.command(), check=True, stdout=subprocess.DEVNULL)
        self.check()
        self.assertEqual(self.rows("SELECT status FROM tasks WHERE id = '1'"), [("completed",)])

    def test_a_killed_run_loses_and_repeats_nothing(self) -> None:
        follower = subprocess.Popen(self.command("--follow"), stdout=subprocess.PIPE)
        self.addCleanup(follower.stdout.close)
        follower.stdout.readline()
        for at in range(30):
            self.team.create_task(title=str(at))
        follower.kill()
        follower.wait()
        subprocess.run(self.command(), check=True, stdout=subprocess.DEVNULL)
        self.check()

    def test_a_follower_keeps_in_step(self) -> None:
        follower = subprocess.Popen(self.command("--follow"), stdout=subprocess.PIPE)
        self.addCleanup(follower.stdout.close)
        self.addCleanup(follower.wait)
        self.addCleanup(follower.kill)
        follower.stdout.readline()
        self.team.create_task(title="one")
        while self.rows("SELECT seq FROM position") != [(self.last_seq(),)]:
            self.assertIsNone(follower.poll())
            time.sleep(0.05)
        self.check()


if __name__ == "__main__":
    unittest.main()
