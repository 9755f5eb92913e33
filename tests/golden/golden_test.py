#!/usr/bin/env python3
"""What the tools print for people, word for word, so that a change of the words is seen in review.

    golden_test.py BIN_DIR SOURCE_DIR [--update]

With --update the files are written anew (target golden-update); read their difference before committing it.
"""

import difflib
import subprocess
import sys
from pathlib import Path

BIN, SOURCE = (Path(argument).resolve() for argument in sys.argv[1:3])
UPDATE = "--update" in sys.argv[3:]
GOLDEN = Path(__file__).parent

CASES = {
    "quickstart": ["tent-explain", "--now", "1000", "--config", "corpus/quickstart/config.json",
                   "corpus/quickstart/intents.json"],
    "rejections": ["tent-explain", "-q", "--config", "corpus/categories/config.json",
                   "corpus/categories/rejections.json"],
    "downgrades": ["tent-explain", "-q", "--config", "corpus/categories/config.json",
                   "corpus/categories/downgrades.json"],
    "h20-8nic": ["tent-explain", "-v", "--config", "corpus/h20/config.json", "--env", "corpus/environments/h20-8nic.json",
                 "corpus/h20/h20-8nic.json"],
    "h20-asymmetric": ["tent-explain", "-v", "--config", "corpus/h20/config.json",
                       "--env", "corpus/environments/h20-asymmetric.json", "corpus/h20/h20-asymmetric.json"],
    "h20-link-local-first": ["tent-explain", "--config", "corpus/h20/config.json",
                             "--env", "corpus/environments/h20-link-local-first.json",
                             "corpus/h20/h20-link-local-first.json"],
    "config-diff": ["tent-explain", "--config", "corpus/workloads/config.json",
                    "--diff", "corpus/quickstart/config.json", "corpus/workloads/intents.json"],
    "malformed-requests": ["tent-explain", "--lint", "corpus/malformed/vectors-requests.json"],
}


def printed(arguments):
    result = subprocess.run([BIN / arguments[0], *arguments[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False, cwd=SOURCE)
    return f"$ {' '.join(arguments)}\n{result.stdout}exit status {result.returncode}\n"


def main():
    differing = 0
    for name, arguments in CASES.items():
        path = GOLDEN / f"{name}.txt"
        text = printed(arguments)
        if UPDATE:
            path.write_text(text, encoding="utf-8")
            continue
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        if text != expected:
            differing += 1
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), text.splitlines(True), str(path), "now"))
    strays = {path.stem for path in GOLDEN.glob("*.txt")} - CASES.keys() - {"CMakeLists"}
    for name in sorted(strays):
        print(f"{name}.txt belongs to no case")
    return 1 if differing or strays else 0


sys.exit(main())
