"""Prints the OpenAPI document of a program: python3 document.py PROGRAM"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path


def main():
    program = sys.argv[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TEAMLOG_")}
    with tempfile.TemporaryDirectory() as root:
        subprocess.run([program, "init", "demo", "--data-root", root], check=True, stdout=subprocess.DEVNULL, env=environment)
        daemon = subprocess.Popen([program, "serve", "--data-root", root], stdout=subprocess.PIPE, env=environment)
        try:
            # Its first line says that it is ready.
            daemon.stdout.readline()
            runtime = json.loads((Path(root) / "teams/demo/runtime.json").read_text())
            request = urllib.request.Request(runtime["url"] + "/v1/openapi.json", headers={"Authorization": "Bearer " + runtime["token"]})
            with urllib.request.urlopen(request, timeout=60) as answer:
                sys.stdout.write(answer.read().decode())
        finally:
            daemon.terminate()
            daemon.wait()


main()
