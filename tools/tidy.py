#!/usr/bin/env python3
"""The house rules that a machine can check; runs as the ctest `tidy`.

usage: tidy.py ROOT

Prose rules rot, so each rule of the house style stands here as data or as one short function, and
tidy_test.py shows each of them firing on a bad sample. A finding reads `file:line: [rule] what`.
"""
import pathlib
import re
import subprocess
import sys

# Room -> rooms it may include. Includes point down only; no wing includes another, except that lab
# uses sim and fills the results that report shows. lab also speaks to servers: net and wire.
LAYERS = {
    "base": "",
    "core": "base",
    "journey": "core base",
    "sched": "core base",
    "engine": "core base",
    "pipeline": "core base",
    "net": "core base",
    "wire": "core base",
    "model": "engine sched core base",
    "report": "core base",
    "explain": "journey core base",
    "sim": "sched journey core base",
    "lab": "report net wire sim sched journey core base",
    "serve": "net wire engine pipeline model sched journey core base",
    "app": "serve lab sim explain report engine pipeline net wire model sched journey core base",
}
LAYERS = {room: set(below.split()) for room, below in LAYERS.items()}

# Rooms without clocks, threads, locks, environment and randomness. base is pure but for its lock.
PURE = {"base", "core", "sched"}
PURE_EXCEPT = {"src/base/mutex.h"}
IMPURE = re.compile(
    r"_clock::now|clock_gettime|gettimeofday|\btime\(|sleep_(for|until)|\bu?sleep\(|std::j?thread|"
    r"std::async|\bgetenv\(|std::rand\b|random_device|std::(recursive_|shared_|timed_)?mutex|"
    r"condition_variable|std::atomic|thread_local")
NO_FLOAT = {"sched"}
FLOAT = re.compile(r"\b(float|double|long double)\b|\b\d+\.\d*f?\b|\b\d+e-?\d+\b")

# Third-party headers -> the only places that may include them.
CONTAINED = [
    (r"onnxruntime", r"src/engine/onnx/"),
    (r"boost/", r"src/net/.*(\.cc|_impl\.h)$|bench/"),
    (r"openssl/", r"src/net/.*(\.cc|_impl\.h)$"),
    (r"google/protobuf|.*\.pb\.h$", r"src/(model|wire)/.*\.cc$|(fuzz|bench|tests)/"),
    (r"simdjson", r"src/(wire|lab)/.*(\.cc|_impl\.h)$|(fuzz|bench)/"),
    (r"nlohmann/", r"src/(wire|lab|report|explain)/.*\.cc$|_test\.cc$|(tests|fuzz)/"),
    (r"CLI/", r"src/app/"),
    (r"spdlog/", r"src/(app|serve)/.*\.cc$"),
    (r"fmt/", r"\.cc$"),
    (r"gtest/|gmock/", r"_test(_\w+)?\.(cc|h)$|tests/"),
    (r"benchmark/", r"bench/"),
]
CONTAINED = [(re.compile(header), re.compile(place)) for header, place in CONTAINED]

COLUMNS = {".h": 100, ".cc": 100, ".py": 100, ".sh": 100, ".cmake": 100, ".proto": 100, ".md": 140}
COLUMNS_BY_NAME = {"CMakeLists.txt": 100, "dev": 100}
LINES = {".h": 150, ".cc": 400, ".py": 400, ".sh": 400}
LINES_TEST = 600
LINES_FUNCTION = 70
LINES_ROOM_README = 15

# Written in pieces, so that this file does not hold what it forbids.
REGISTRIES = re.compile(
    r"pypi\W?\.org|python" r"hosted\.|npm" r"js\.|crates\W?\.io|maven\W?\.(org|apache)|"
    r"proxy\.gol" r"ang|deb\.deb" r"ian\.|hugging" r"face\.co\b|snapshot\.deb" r"ian")
MACHINE_PATHS = re.compile(r"(?<![\w.$}{])/(wo" r"rk|tm" r"p|ho" r"me|ro" r"ot)/\w")

# Package as CMake finds it -> the word that docs/dependencies.md must hold (default: its own name).
LIBRARY_WORDS = {"GTest": "GoogleTest", "benchmark": "Google Benchmark",
                 "nlohmann_json": "nlohmann/json"}
NOT_LIBRARIES = {"Threads", "Python3"}
INCLUDE = re.compile(r'\s*#\s*include\s+(["<])([^">]+)[">]')


class File:
    """One tracked file: its path under the root, its suffix, its lines."""

    def __init__(self, root, path):
        self.path = path
        self.suffix = pathlib.PurePath(path).suffix
        self.name = pathlib.PurePath(path).name
        text = (root / path).read_bytes()
        self.binary = b"\0" in text[:4096]
        self.lines = [] if self.binary else text.decode("utf-8", "replace").splitlines()
        self.code = self.suffix in {".h", ".cc"}
        self.test = bool(re.search(r"_test(_\w+)?\.(cc|h|py)$|^tests/", path))

    def room(self):
        parts = pathlib.PurePath(self.path).parts
        return parts[1] if len(parts) > 2 and parts[0] == "src" else None

    def includes(self):
        for number, line in enumerate(self.lines, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match[1], match[2]


def without_comments(line):
    """The line without strings, character constants and a trailing comment; lines alone only."""
    line = re.sub(r'R"(\w*)\(.*?\)\1"', '""', line)
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    line = re.sub(r"(?<![0-9a-fA-F])'(\\.|[^'\\])'", "0", line)
    line = re.sub(r"/\*.*?\*/", "", line)
    return line.split("//")[0]


def layers(file):
    room = file.room()
    if not file.code or room is None:
        return
    if room not in LAYERS:
        yield 1, f"no room '{room}' in the house; tools/tidy.py has the list"
        return
    for number, quote, header in file.includes():
        other = header.split("/")[0]
        if quote == '"' and other in LAYERS and other != room and other not in LAYERS[room]:
            yield number, f"{room} may not include {other}"


def purity(file):
    if not file.code or file.room() not in PURE or file.path in PURE_EXCEPT or file.test:
        return
    for number, line in enumerate(file.lines, 1):
        match = IMPURE.search(without_comments(line))
        if match:
            yield number, f"'{match[0]}' in a pure room; time and threads are handed in from above"


def no_float(file):
    if not file.code or file.room() not in NO_FLOAT:
        return
    for number, line in enumerate(file.lines, 1):
        match = FLOAT.search(without_comments(line))
        if match:
            yield number, f"'{match[0]}': a replay must be the same in every build; use integers"


def contained(file):
    if not file.code:
        return
    for number, _, header in file.includes():
        for pattern, place in CONTAINED:
            if pattern.match(header) and not place.search(file.path):
                yield number, f"<{header}> may be included only in {place.pattern}"


def columns(file):
    limit = COLUMNS.get(file.suffix) or COLUMNS_BY_NAME.get(file.name)
    for number, line in enumerate(file.lines, 1):
        table = file.suffix == ".md" and line.startswith("|")  # a row of a table cannot be wrapped
        if limit and len(line) > limit and not table:
            yield number, f"{len(line)} columns, {limit} allowed"


def file_size(file):
    limit = LINES.get(file.suffix)
    if limit and file.test:
        limit = LINES_TEST
    if limit and len(file.lines) > limit:
        yield limit + 1, f"{len(file.lines)} lines, {limit} allowed; is it two things?"
    if file.name == "README.md" and file.room() and len(file.lines) > LINES_ROOM_README:
        yield LINES_ROOM_README + 1, f"a room's README has {LINES_ROOM_README} lines at most"


NOT_A_FUNCTION = re.compile(
    r"^(template\s*<[^{]*>\s*)?(inline\s+)?(namespace|struct|class|enum|union|extern|concept)\b|"
    r"^(if|for|while|switch|catch|else|do|try)\b|=\s*$|^$")


def functions(lines):
    """(first line, length) of each outermost function body. Knows braces, not C++; good enough for
    formatted code."""
    stack, head, head_line, inside, raw_end = [], "", 0, None, None
    for number, line in enumerate(lines, 1):
        if raw_end:
            if raw_end not in line:
                continue
            line, raw_end = line.split(raw_end, 1)[1], None
        raw = re.search(r'R"(\w*)\(', line)
        if raw and f'){raw[1]}"' not in line:
            raw_end, line = f'){raw[1]}"', line[:raw.start()]
        if line.startswith("#") or line.rstrip().endswith("\\"):
            continue
        for char in without_comments(line):
            if char == "{":
                function = (inside is None and "(" in head and
                            not NOT_A_FUNCTION.search(head.strip()))
                stack.append(function)
                if function:
                    inside = (len(stack), head_line or number)
                head, head_line = "", 0
            elif char == "}":
                if stack and stack.pop() and inside and inside[0] == len(stack) + 1:
                    yield inside[1], number - inside[1] + 1
                    inside = None
                head, head_line = "", 0
            elif char == ";" and head.count("(") == head.count(")"):
                head, head_line = "", 0
            elif not char.isspace() or head:
                head_line = head_line or number
                head += char
        head += " " if head else ""
        if re.match(r"\s*(public|private|protected):\s*$", head):
            head, head_line = "", 0


def function_size(file):
    if file.code:
        for number, length in functions(file.lines):
            if length > LINES_FUNCTION:
                yield number, f"a function of {length} lines, {LINES_FUNCTION} allowed"


def no_registry_hosts(file):
    for number, line in enumerate(file.lines, 1):
        match = REGISTRIES.search(line)
        if match:
            yield number, f"'{match[0]}': a registry by host name; name packages, not hosts"


def no_machine_paths(file):
    for number, line in enumerate(file.lines, 1):
        match = MACHINE_PATHS.search(line)
        if match:
            yield number, f"'{match[0]}…' is a path of one machine"


def life_of_a_request(files):
    """Every name of ours in the story must exist: `Type`, `call()`, `Type::call`, `a_name`."""
    code = "\n".join(line.split("//")[0] for f in files if f.code and f.room() and not f.test
                     for line in f.lines)
    for file in files:
        if file.path != "docs/life_of_a_request.md":
            continue
        for number, line in enumerate(file.lines, 1):
            for name in re.findall(r"`([A-Za-z_][\w:.]*)(?:\([^`]*\))?`", line):
                called = f"`{name}(" in line or "::" in name
                for part in re.split(r"::|\.", name):
                    known = re.search(rf"\b{part}\b", code)
                    if called and part == re.split(r"::|\.", name)[-1] and part[0].islower():
                        known = re.search(rf"\b{part}\(", code)
                    if not known and (called or "_" in part or part[0].isupper()):
                        yield file.path, number, f"no '{part}' in src/, says `{name}`"


def dependencies(files):
    """Every library that CMake finds has its place in docs/dependencies.md."""
    pages = [f for f in files if f.path == "docs/dependencies.md"]
    page = "\n".join(line for f in pages for line in f.lines).lower()
    for file in files:
        if file.name != "CMakeLists.txt" and file.suffix != ".cmake":
            continue
        for number, line in enumerate(file.lines, 1):
            line = line.split("#")[0]
            found = re.findall(r"find_package\((\w+)|(?<![\w:])([A-Za-z]\w+)::\w+", line)
            for library in {a or b for a, b in found} - NOT_LIBRARIES:
                if LIBRARY_WORDS.get(library, library).lower() not in page:
                    yield file.path, number, f"library {library} is not in docs/dependencies.md"


FILE_RULES = {
    "layers": layers, "purity": purity, "no-float": no_float, "contained": contained,
    "columns": columns, "file-size": file_size, "function-size": function_size,
    "no-registry-hosts": no_registry_hosts, "no-machine-paths": no_machine_paths,
}
HOUSE_RULES = {"life-of-a-request": life_of_a_request, "dependencies": dependencies}


def tracked(root):
    """Paths that git knows or would add; outside a repository, all files."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        paths = sorted(set(listed.stdout.decode().split("\0")) - {""})
    else:
        paths = sorted(str(p.relative_to(root)) for p in root.rglob("*"))
    return [p for p in paths if (root / p).is_file() and not (root / p).is_symlink()]


def check(root):
    """All findings of all rules, as printable lines."""
    files = [File(root, path) for path in tracked(root)]
    findings = [f"{file.path}:{number}: [{rule}] {what}"
                for file in files for rule, function in FILE_RULES.items()
                for number, what in function(file)]
    findings += [f"{path}:{number}: [{rule}] {what}"
                 for rule, function in HOUSE_RULES.items()
                 for path, number, what in function(files)]
    return findings


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: tidy.py ROOT")
    findings = check(pathlib.Path(sys.argv[1]))
    print("\n".join(findings) if findings else "tidy")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
