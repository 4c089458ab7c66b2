"""Runs the commands of the documents; see Tools/docs-commands."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / ".build/docs-commands"
CLONE = WORK / "checkout"
BUILD = os.environ.get("BUILD", "")
BUDGET = os.environ.get("BUDGET", "30s")
# Of a command that no plan ends.
SECONDS = 1_800

# Read from top to bottom, as a reader would; all other documents follow. Tools/known-truths runs those of its page.
FIRST = ["README.md", "docs/getting-started.md", "docs/strata-command.md", "docs/assay.md"]
LEFT_OUT = {"docs/known-truths.md", "CHANGELOG.md"}

# What a reader puts in the place of a name in capitals, or of an example; `$..` is worked out when a run is there.
# Whole phrases come first.
PLACES = [
    ("RUN CASE cut:4096", "R $TRUNCATE cut:4096"), ("RUN CASE kill:3", "R $KILL kill:3"),
    ("RUN CASE bit:241997", "R $CASE bit:4096"), ("RUN CASE", "R $CASE"), ("RUN", "R"),
    ("bit:123456", "bit:4096"), ("FILE", "a.case.json"), ("OLD", "$ASSAY"), ("NEW", "$ASSAY"), ("PLAN", "smoke"),
    ("DIR", "kept"), ("Dog", "$CLASS"),
]

# Commands that are not run here, each with its reason.
PASSED_OVER = [
    (r"^make (test|self-test|plans|soak|storm|fuzz|deb|test-deb|install|uninstall|run|test-tsan|test-debug|baseline"
     r"|docs)\b", "a target of its own, run by make itself"),
    (r"^assay bisect|^assay ab .*-ref", "builds revisions: hours"),
    (r"libmine\.so|-engine-library (old|\./old)", "needs a library that the reader writes"),
    (r"^assay soak|^assay minimize", "takes its own time, and a failure to work on"),
    (r"^assay run (scale-large|peers-large)", "needs 40 GB, or less memory than this"),
    (r"^assay run ─►|\.\.$|\.\. ", "an elision, or a drawing"),
    (r"^srun|^parallel|kubectl|docker|apt-get|sudo|\bdpkg -|\bgh |curl |\bpip ",
     "changes the machine, or needs another"),
    (r"--peer-library", "needs another build of a peer"),
    (r"\$\{\{|\$\(S|\$\*|\$@|^assay-\w+:|SLURM|shards/shard|merge shard-", "a part of a file for another tool"),
    (r"data\.mdb|crash:op=17,state=|<input|Notes\.sqlite|(Model|Old)\.sqlite",
     "a file, or an address, of the reader's own"),
    (r"REALM_CORE|libassay-realm", "needs the sources of Realm core"),
    (r"^assay self-test", "needs the build of make test"),
]

# A run may find what it looks for; a comparison of a program with itself decides nothing.
ALLOWED = [(r"assay (run|merge|damage|crash|eio|full|kill|replay|gate|compare|verify-figures|conform)", {0, 2, 3}),
           (r"assay ab", {0, 3}), (r"strata (check|salvage|info|dump)", {0, 2})]

PROGRAM = """#!/bin/sh
if [ -d "$1" ]; then set -- "$1/data"; fi
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "row $i" >>"$1" || exit 1; echo "row $i"; done
sync "$1"
"""
CHECK = """#!/bin/sh
if [ -d "$1" ]; then cat "$1"/* >/dev/null 2>&1 || true; else cat "$1" >/dev/null 2>&1 || true; fi
"""
TOOL = """#!/bin/sh
shift
if [ -d "$1" ]; then cat "$1"/*; else cat "$1"; fi
"""


def documents():
    every = [path.relative_to(ROOT).as_posix() for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]]
    for folder in ("docs", "Reports", "Examples"):
        every += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.md")
                        if "decisions" not in path.parts and ".build" not in path.parts)
    return FIRST + [file for file in every if file not in FIRST and file not in LEFT_OUT]


def commands(file):
    """Lines of fenced blocks that begin with a program of ours, with what continues them."""
    found, code, rest = [], False, ""
    for number, line in enumerate((ROOT / file).read_text().split("\n"), 1):
        if line.startswith("```"):
            code = not code
            continue
        if not code:
            continue
        line = re.sub(r"^\$ ", "", line.strip())
        line = re.sub(r"^(- )?run: ", "", line)
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


def passed_over(file, command):
    reason = next((reason for pattern, reason in PASSED_OVER if re.search(pattern, command)), None)
    if reason:
        return reason
    if BUILD and re.match(r"make build\b", command):
        return "BUILD has the programs"
    if "--profile perf" in command and not shutil.which("perf"):
        return "needs perf"
    if command.startswith("assay damage") and "sqlite3 {}" in command and not shutil.which("sqlite3"):
        return "needs sqlite3"
    for engine, header in (("BerkeleyDB", "db.h"), ("LevelDB", "leveldb/c.h")):
        if f"Engines/{engine}/" in file and not pathlib.Path(f"/usr/include/{header}").exists():
            return f"needs {header}"
    if "Engines/RealmCore/" in file:
        return "needs the sources of Realm core"
    return None


class Place:
    """The clone, with what the documents take for granted in it."""

    def __init__(self):
        subprocess.run(["rm", "-rf", str(WORK)], check=True)
        WORK.mkdir(parents=True)
        subprocess.run(["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--no-hardlinks", str(ROOT),
                        str(CLONE)], check=True)
        if BUILD:
            (CLONE / ".build/run").mkdir(parents=True)
            (CLONE / ".build/run/release").symlink_to(pathlib.Path(BUILD).resolve())
        else:
            subprocess.run(["make", "build"], cwd=CLONE, check=True)
        programs = CLONE / ".build/run/release"
        tools = WORK / "bin"
        tools.mkdir()
        for name, text in {"my-program": PROGRAM, "my-check": CHECK, "my-tool": TOOL}.items():
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{programs}:{tools}:{os.environ['PATH']}", COLUMNS="100")
        self.values = {"$ASSAY": str(programs / "assay")}

    def sh(self, command, folder=CLONE):
        """Status and output; what a command has started ends with it."""
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=self.environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            return process, process.communicate(timeout=SECONDS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process, (process.communicate()[0] or "") + f"\nno end within {SECONDS // 60} minutes"

    def must(self, command):
        process, said = self.sh(command)
        if process.returncode not in (0, 2, 3):
            sys.exit(f"error: {command} ended with {process.returncode}:\n{said}")
        return said

    def prepare(self, wanted):
        """The runs, files and databases that the documents name: those that one of the commands `wanted` needs."""
        text = "\n".join(wanted)
        quick = "assay run quick --scenario point-read,commit --engine strata,sqlite --seed 7"
        for need, command in (
            (r"\bRUN\b|\bstrata |3f2a",
             "assay run smoke --scenario bit-flip,truncate,kill-mid-write --engine strata,sqlite --out R"),
            (r"\bD\b|Reports/\d", f"{quick} --out D"), (r"\bE\b|Reports/\d", f"{quick} --out E"),
            (r"\bG\b", "assay run guard --out G"),
            (r"\bstore\b", "for i in store store-of-yesterday; do mkdir $i; head -c 20000 /dev/urandom >$i/data; done"),
            (r"merge S1", "for i in 1 3 4; do assay run smoke --shard $i/4 --out S$i || [ $? -le 3 ]; done"),
            (r"FILE|a\.case", "assay damage /etc/services --read 'cat {}' --samples 5 --case a.case.json"),
        ):
            if re.search(need, text):
                print(f"first: {command}", flush=True)
                self.must(command)
        if "people.db" in text and shutil.which("sqlite3"):
            # Small: one of the commands flips every bit of it.
            self.must("sqlite3 people.db 'pragma page_size=512; create table person (id, name); "
                      "insert into person values (1, \"Ada\")'")
        # Plans that the reader adds.
        for page, file in (("docs/ci.md", "ci/assay.json5"), ("docs/gate.md", "guard.json5")):
            plan = re.search(rf"`{re.escape(file)}`.*?```\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
            (CLONE / file).parent.mkdir(exist_ok=True)
            (CLONE / file).write_text(plan[1])
        if not (CLONE / "R").exists():
            return
        cases = [line.split() for line in self.must("assay list cases --run R").split("\n")]
        for name, scenario in (("$CASE", "bit-flip"), ("$TRUNCATE", "truncate"), ("$KILL", "kill-mid-write")):
            self.values[name] = next(words[0] for words in cases if scenario in words and "strata" in words)
        # A damaged file, and what a salvage gets back from it.
        self.must(f"assay replay R {self.values['$CASE']} bit:70000 --keep kept-strata")
        self.must('cp "$(find kept-strata -type f -size +16k | head -1)" broken.strata')
        self.must("strata salvage broken.strata --to people.strata")
        found = re.search(r'"classes":\[\{"name":"(\w+)"', self.must("strata info people.strata --json"))
        self.values["$CLASS"] = found[1] if found else "Dog"

    def words(self, command):
        for name, value in PLACES:
            for key in re.findall(r"\$[A-Z]+", value):
                value = value.replace(key, self.values.get(key, key))
            command = re.sub(rf"(?<![\w/.\-$]){re.escape(name)}(?![\w.=-])", value, command)
        command = re.sub(r"replay Reports/\S+ 3f2a", f"replay R {self.values.get('$CASE')}", command)
        for run in ("D", "E"):
            command = re.sub(r"Reports/\d{8}-\d{6}-\w+-1", run, command, count=1)
        if re.search(r"\b\d{8}-\d{6}-\w+-1\b", command):
            last = self.must("assay history list").strip().split("\n")[-1].split()[0]
            command = re.sub(r"\b\d{8}-\d{6}-\w+-1\b", last, command)
        # Plans of seconds are run as they are.
        is_brief = re.match(r"assay run (quick|smoke|guard|\./)", command)
        if BUDGET and not is_brief and re.match(r"assay (run|ab) (?!--resume)", command) and "--dry-run" not in command:
            command += f" --budget {BUDGET}"
        return command


def main():
    words = sys.argv[1:]
    only_list = "--list" in words
    files = [word for word in words if word != "--list"] or documents()
    if only_list:
        for file in files:
            for number, command in commands(file):
                reason = passed_over(file, command)
                print(f"{file}:{number}: {command}" + (f"    [not run: {reason}]" if reason else ""))
        return
    place = Place()
    place.prepare([command for file in files for _, command in commands(file) if not passed_over(file, command)])
    wrong, ran, left = [], 0, 0
    for file in files:
        # What stands beside an example is typed there.
        folder = (CLONE / file).parent if file.startswith("Examples/Engines/") else CLONE
        for number, command in commands(file):
            if passed_over(file, command):
                left += 1
                continue
            real = place.words(command)
            process, output = place.sh(real, folder)
            allowed = next((s for pattern, s in ALLOWED if re.match(pattern, command)), {0})
            ran += 1
            mark = "" if process.returncode in allowed else "  WRONG"
            print(f"{file}:{number}: {command}: {process.returncode}{mark}", flush=True)
            if mark:
                wrong.append(f"{file}:{number}: {real}")
                print(f"    as {real}\n    " + "\n    ".join(output.strip().split("\n")[-8:]), flush=True)
    print(f"{ran} commands, {len(wrong)} wrong, {left} not run (--list says why)")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


main()
