#!/usr/bin/env python3
"""Fails when one program defines two types of the same name.

    one_definition.py [ROOT]

The linker takes one of two inline functions of the same name without a word, so a second `tent::Peer` destroys the first
one's strings. Looked at are the types that lib/, tools/common and the folder of one tool define outside unnamed
namespaces. Faults read FILE:LINE: what is wrong; exit code 1.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

# clang-format keeps what is at namespace level in the first column.
OPEN = re.compile(r"(?:inline )?namespace ?(?P<name>[\w:]*) ?\{")
CLOSE = re.compile(r"\}  // namespace")
TYPE = re.compile(r"(?:template <.*> )?(?:struct|class|enum(?: class)?|union) (?:\[\[.*?\]\] )?(?P<name>\w+(?:::\w+)*(?:<[^<>]*>)?)(?!\w)(?P<rest>.*)")


def types_of(source):
    """(qualified name, line) of each type that `source` defines where others see it."""
    scopes = []
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if match := OPEN.match(line):
            scopes.append(match["name"])
        elif CLOSE.match(line):
            scopes.pop()
        elif "" not in scopes and (match := TYPE.match(line)) and not is_declaration(match["rest"]):
            # Specializations of one template are types of their own.
            arguments = re.match(r"<[^{]*>", match["rest"])
            yield "::".join([*scopes, match["name"] + (arguments[0] if arguments else "")]), number


def is_declaration(rest):
    """Whether what follows a type's name only declares it, or a function or variable of it."""
    return "{" not in rest or rest.split("{")[0].rstrip().endswith((";", ")", "="))


def sources_of(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cc", ".cpp", ".c"))


def faults_of(root):
    """All faults of the tree at `root`, as (file, line, text)."""
    shared = [*sources_of(root / "lib"), *sources_of(root / "tools" / "common")]
    tools = [p for p in sorted((root / "tools").iterdir()) if p.is_dir() and p.name != "common"]
    faults = {}
    for own in [[], *map(sources_of, tools)]:
        found = defaultdict(list)
        for source in [*shared, *own]:
            for name, line in types_of(source):
                found[name].append((source, line))
        for name, ((first, first_line), *others) in found.items():
            for source, line in others:
                text = f"{name} is defined in {first.relative_to(root)}:{first_line} too: call one of them otherwise"
                faults[source, line] = text
    return [(source, line, text) for (source, line), text in sorted(faults.items())]


def main(arguments):
    root = Path(arguments[0] if arguments else ".").resolve()
    faults = faults_of(root)
    for path, line, text in faults:
        print(f"{path.relative_to(root)}:{line}: {text}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
