"""A daemon of a new data root, for tests. The program is $TEAMLOG."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TEAM = "demo"


class Daemon:
    """A daemon that can be stopped and started again."""

    def __init__(self, program: str, root: str) -> None:
        self.root = root
        self._program = program
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("TEAMLOG_")}
        self.run("init", TEAM)
        self.start()

    def run(self, *arguments: str) -> str:
        """Runs a command of the program and returns its output."""
        command = [self._program, *arguments, "--data-root", self.root]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, env=self._environment, text=True).stdout

    def start(self) -> None:
        self._process = subprocess.Popen(
            [self._program, "serve", "--data-root", self.root], stdout=subprocess.PIPE, env=self._environment
        )
        # Its first line says that it is ready.
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class DaemonTest(unittest.TestCase):
    """A test with a daemon of its own."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.daemon = Daemon(os.environ["TEAMLOG"], directory.name)
        self.addCleanup(lambda: self.daemon.stop())
        self.root = Path(directory.name)
