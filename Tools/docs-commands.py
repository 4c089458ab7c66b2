"""Runs the commands of the documents; see Tools/docs-commands."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / ".build/docs-commands"
CLONE = WORK / "checkout"
FILES = [
    "README.md", "docs/getting-started.md", "docs/strata-command.md", "docs/assay.md", "docs/ci.md", "docs/gate.md",
    "docs/comparing.md", "docs/exports.md", "docs/any-program.md", "docs/case-files.md", "docs/engine-library.md",
    "docs/peers.md", "docs/scaling.md", "docs/history.md", "Examples/Articles/README.md", "Examples/Guide/README.md",
]

# The values for placeholders in capitals; `$..` is computed when a run exists.
PLACES = {"RUN": "D", "CASE": "$CASE", "TRIAL": "$TRIAL", "bit:241997": "$TRIAL", "cut:4096": "$CUT", "FILE": "$FILE",
          "OLD": "$ASSAY", "NEW": "$ASSAY", "DIR": "kept", "PLAN": "smoke", "Dog": "$CLASS",
          "bit:123456": "bit:4096"}

# Commands that cannot be run here, each with its reason.
PASSED_OVER = [
    (r"^make (test|self-test|plans|soak|storm|fuzz|deb|test-deb|install|run|test-tsan|test-debug|baseline|docs)\b",
     "a target of its own, run by make itself"),
    (r"^assay (bisect|ab .*-ref)", "builds revisions: hours"),
    (r"^assay ab\b.*--(a|b)-engine-library|libmine\.so|--engine-library", "needs a library that the reader writes"),
    (r"^assay soak|^assay minimize", "takes its own time, and a failure to work on"),
    (r"^assay run (scale-large|peers-large)", "needs 40 GB, or less memory than this"),
    (r"\.\.$|\.\. ", "an elision"),
    (r"^srun|^parallel|kubectl|docker|apt-get|sudo|dpkg|gh |curl |pip ", "changes the machine, or needs another one"),
    (r"--peer-library", "needs another build of a peer"),
    (r"\$\{\{|\$\(|\$\*|\$@|^assay-\w+:|SLURM|shards/shard|merge shard-", "a part of a file for another tool"),
    (r"data\.mdb|crash:op=17,state=|libmine|<input", "a file, or an address, of the reader's own"),
]

# A run may find violations; a comparison of a program with itself decides nothing.
ALLOWED = [(r"^assay (run|merge|damage|crash|eio|full|kill|replay|gate|compare|verify-figures|conform)", {0, 2, 3}),
           (r"^assay ab", {0, 3}), (r"^strata (check|salvage|info|dump)", {0, 2})]


def commands(file):
    """Lines of fenced blocks that begin with a program of ours, with what continues them."""
    found, code, rest = [], False, ""
    for number, line in enumerate(pathlib.Path(ROOT / file).read_text().split("\n"), 1):
        if line.startswith("```"):
            code = not code
            continue
        if not code:
            continue
        line = re.sub(r"^\$ ", "", line.strip())
        line = re.sub(r"^- run: ", "", line)
        if rest or re.match(r"(assay|strata|make|swift run|Tools/|Examples/)\b ?", line):
            if re.match(r"assay \d", line):  # what a run prints of itself
                continue
            line = (rest + line).strip()
            if line.endswith("\\"):
                rest = line[:-1]
                continue
            rest = ""
            found.append((number, re.split(r"\s{2,}#|\s# ", line)[0].strip()))
    return found


def passed_over(command):
    return next((reason for pattern, reason in PASSED_OVER if re.search(pattern, command)), None)


class Place:
    """The clone, with what the documents take for granted in it."""

    def __init__(self):
        subprocess.run(["rm", "-rf", str(WORK)], check=True)
        WORK.mkdir(parents=True)
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(CLONE)], check=True)
        build = os.environ.get("BUILD")
        if build:
            (CLONE / ".build/run").mkdir(parents=True)
            (CLONE / ".build/run/release").symlink_to(pathlib.Path(build).resolve())
        else:
            subprocess.run(["make", "build"], cwd=CLONE, check=True)
        programs = CLONE / ".build/run/release"
        tools = WORK / "bin"
        tools.mkdir()
        for name, text in {
            "my-program": 'for i in 1 2 3; do echo "row $i" >>"$1"; sync "$1"; echo "row $i"; done',
            "my-check": 'cmp -s "$ASSAY_ACKNOWLEDGED" /dev/null || cat "$1"/* >/dev/null',
            "my-tool": 'shift; cat "$1"',
        }.items():
            (tools / name).write_text(f"#!/bin/sh\n{text}\n")
            (tools / name).chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{programs}:{tools}:{os.environ['PATH']}", COLUMNS="100")
        self.assay = str(programs / "assay")
        self.values = {"$ASSAY": self.assay}

    def sh(self, command, seconds=1800):
        return subprocess.run(["sh", "-c", command], cwd=CLONE, env=self.environment, text=True, timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def prepare(self):
        """The runs, files and databases that the documents name."""
        for command in (
            "assay run smoke --scenario bit-flip,truncate --engine strata,sqlite --out D",
            "assay run smoke --scenario bit-flip,truncate --engine strata,sqlite --seed 2 --out E",
            "assay run guard --out G", "cp -R G now",
            "sqlite3 people.db 'create table person (id, name); insert into person values (1, \"Ada\")'",
            "for i in store store-of-yesterday; do mkdir $i; head -c 20000 /dev/urandom >$i/data; done",
            "test -f ci/assay.json5 || { mkdir -p ci && cp Benchmarks/Plans/guard.json5 ci/assay.json5; }",
            "for i in 1 2 3 4; do assay run smoke --scenario bit-flip,truncate --shard $i/4 --out S$i; done",
        ):
            said = self.sh(command)
            if said.returncode not in (0, 2, 3):
                sys.exit(f"error: {command} ended with {said.returncode}:\n{said.stdout}")
        cases = self.sh("assay list cases --run D").stdout.split("\n")
        flip = next(line.split() for line in cases if " bit-flip " in f" {line} ")
        self.values["$CASE"] = flip[0]
        self.values["$TRIAL"] = "bit:4096"
        self.values["$CUT"] = "cut:4096"
        kept = self.sh(f"assay replay D {flip[0]} bit:70000 --keep kept-strata; ls kept-strata")
        self.values["$FILE"] = next((w for w in kept.stdout.split() if w.endswith(".case.json")), "README.md")
        # The kept file is damaged; the copy has its original contents.
        self.sh('cp "$(find kept-strata -type f -size +16k | head -1)" broken.strata')
        self.sh("strata salvage broken.strata --to people.strata")
        info = self.sh("strata info people.strata --json").stdout
        found = re.search(r'"classes":\[\{"name":"(\w+)"', info)
        self.values["$CLASS"] = found[1] if found else "Dog"

    def words(self, command):
        for name, value in PLACES.items():
            value = self.values.get(value, value)
            command = re.sub(rf"(?<![\w/.\-])--out {re.escape(name)}(?![\w.])", f"--out {value}", command)
            command = re.sub(rf"(?<![\w/.\-$]){re.escape(name)}(?![\w.=])", value, command)
        command = re.sub(r"Reports/\d{8}-\d{6}-\w+-1", "D", command, count=1)
        command = re.sub(r"Reports/\d{8}-\d{6}-\w+-1", "E", command)
        budget = os.environ.get("BUDGET", "30s")
        if budget and re.match(r"assay run (?!--)", command) and "--dry-run" not in command and "&&" not in command:
            command += f" --budget {budget}"
        return command


def main():
    words = sys.argv[1:]
    only_list = "--list" in words
    files = [word for word in words if word != "--list"] or FILES
    if only_list:
        for file in files:
            for number, command in commands(file):
                reason = passed_over(command)
                print(f"{file}:{number}: {command}" + (f"    [not run: {reason}]" if reason else ""))
        return
    place = Place()
    place.prepare()
    wrong, ran, left = [], 0, 0
    for file in files:
        for number, command in commands(file):
            if passed_over(command):
                left += 1
                continue
            real = place.words(command)
            try:
                said = place.sh(real)
                status, output = said.returncode, said.stdout
            except subprocess.TimeoutExpired:
                status, output = -1, "no end within half an hour"
            allowed = next((s for pattern, s in ALLOWED if re.match(pattern, command)), {0})
            ran += 1
            mark = "" if status in allowed else "  WRONG"
            print(f"{file}:{number}: {command}: {status}{mark}", flush=True)
            if mark:
                wrong.append(f"{file}:{number}: {real}")
                print("    " + "\n    ".join(output.strip().split("\n")[-8:]))
    print(f"{ran} commands, {len(wrong)} wrong, {left} not run (--list says why)")
    sys.exit(1 if wrong else 0)


main()
