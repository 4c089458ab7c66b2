"""What Tools/read-exports runs: reads what was exported, and compares it with the raw results of the run."""

import collections
import json
import os
import sys
import tempfile

import jsonschema
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from junitparser import Error, Failure, JUnitXml, Skipped
from prometheus_client.openmetrics.parser import text_string_to_metric_families

NUMBER = {"type": "number"}
TEXT = {"type": "string", "minLength": 1}

BENCHER = {
    "type": "object",
    "propertyNames": {"minLength": 1, "maxLength": 1024},
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "additionalProperties": {
            "type": "object",
            "properties": {"value": NUMBER, "lower_value": NUMBER, "upper_value": NUMBER},
            "required": ["value"],
            "additionalProperties": False,
        },
    },
}
GITHUB = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": TEXT, "unit": TEXT, "value": NUMBER, "range": TEXT, "extra": TEXT},
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
    },
}
EVENT = {"name": TEXT, "pid": {"type": "integer"}, "tid": {"type": "integer"}, "args": {"type": "object"}}
TRACE = {
    "type": "object",
    "properties": {
        "traceEvents": {
            "type": "array",
            "items": {
                "oneOf": [
                    {
                        "properties": EVENT | {"ph": {"const": "X"}, "cat": TEXT, "ts": NUMBER, "dur": NUMBER},
                        "required": ["name", "ph", "ts", "dur", "pid", "tid"],
                        "additionalProperties": False,
                    },
                    {
                        "properties": EVENT | {"ph": {"const": "M"}},
                        "required": ["name", "ph", "pid", "tid", "args"],
                        "additionalProperties": False,
                    },
                ]
            },
        },
        "displayTimeUnit": {"enum": ["ms", "ns"]},
    },
    "required": ["traceEvents"],
}


def pairs(members):
    """An object as a dictionary; refuses a name that stands twice, which json.loads would swallow."""
    names = [name for name, _ in members]
    if len(names) != len(set(names)):
        raise ValueError("a name stands twice: " + str([n for n, c in collections.Counter(names).items() if c > 1]))
    return dict(members)


def load(path, schema):
    with open(path, encoding="utf-8") as file:
        value = json.load(file, object_pairs_hook=pairs)
    jsonschema.validate(value, schema)
    return value


class Raw:
    """The run as its directory holds it."""

    def __init__(self, directory):
        with open(f"{directory}/run.json", encoding="utf-8") as file:
            self.header = json.load(file)
        self.measurements = {}
        with open(f"{directory}/results.jsonl", encoding="utf-8") as file:
            for line in file:
                result = json.loads(line)
                self.measurements[result["case"], result["round"], result["side"]] = result
        self.cases = {}
        for (case, _, side), result in self.measurements.items():
            self.cases.setdefault(case, []).append(result)
        # The measured side, all rounds combined: name to (count by bucket, smallest, largest).
        self.histograms = {}
        for (case, number, side), result in self.measurements.items():
            path = f"{directory}/series/{case}{f'-{number}' if number else ''}.json"
            if side or not os.path.exists(path):
                continue
            with open(path, encoding="utf-8") as file:
                for entry in json.load(file)["histograms"]:
                    counts, low, high = self.histograms.get((case, entry["name"]), (collections.Counter(), None, 0))
                    for index, count in entry["buckets"]:
                        counts[index] += int(count)
                    smallest = int(entry["min"]) if low is None else min(low, int(entry["min"]))
                    self.histograms[case, entry["name"]] = (counts, smallest, max(high, int(entry["max"])))

    def counts(self, case):
        good = {"pass", "known", "unpromised"}
        return all(result["verdict"] in good and not result["cut"] for result in self.cases[case])

    def values(self, case, direction=None):
        """The values that each figure of a case may have: of one round, or the median of several."""
        found = {}
        for result in self.cases[case]:
            if result["side"]:
                continue
            for sample in result["samples"]:
                if direction is None or sample["direction"] == direction:
                    name = sample["metric"], sample["statistic"], sample.get("label", "")
                    found.setdefault(name, []).append(float(sample["value"]))
        return found


def bounds(index):
    """What the run's own bucket holds; Sources/Harness/Measuring/Histogram.swift."""
    if index < 128:
        return index, index
    power, step = (index - 128) // 64 + 7, (index - 128) % 64
    width = 1 << (power - 6)
    return (64 + step) * width, (64 + step) * width + width - 1


def junit(folder, raw):
    document = JUnitXml.fromfile(f"{folder}/junit")
    cases = [case for suite in document for case in suite]
    if len(cases) != len(raw.cases):
        yield f"junitparser reads {len(cases)} tests, the run has {len(raw.cases)} cases"
    kinds = collections.Counter(type(result) for case in cases for result in case.result)
    worst = {"violation": Failure, "harness-error": Error, "suspected-harness": Error}
    worst |= dict.fromkeys(["inconclusive", "not-applicable", "not-built"], Skipped)
    order = [Error, Failure, Skipped]
    wanted = collections.Counter()
    for results in raw.cases.values():
        found = [kind for kind in order if any(worst.get(result["verdict"]) == kind for result in results)]
        wanted.update(found[:1])
    # Verdicts that follow from all results together are not in the raw lines.
    if kinds[Error] == wanted[Error] and kinds != wanted:
        yield f"junitparser reads {dict(kinds)}, the verdicts are {dict(wanted)}"
    if (document.tests, document.failures, document.errors) != (len(cases), kinds[Failure], kinds[Error]):
        yield "the counts at the head are not those of the tests"


def github(folder, raw):
    for name, direction in [("bigger", "higher"), ("smaller", "lower")]:
        entries = load(f"{folder}/github-{name}", GITHUB)
        if len({entry["name"] for entry in entries}) != len(entries):
            yield f"github-{name}: a name stands twice"
        byCase = collections.Counter(entry["extra"].rsplit(" ", 1)[1] for entry in entries)
        if raw.header["measures"]:
            wanted = {case: len(raw.values(case, direction)) for case in raw.cases if raw.counts(case)}
            wanted = {case: count for case, count in wanted.items() if count}
            if dict(byCase) != wanted:
                yield f"github-{name}: {sum(byCase.values())} entries, the run has {sum(wanted.values())} figures"
        for entry in entries:
            values = raw.values(entry["extra"].rsplit(" ", 1)[1], direction).values()
            if not any(min(figure) <= entry["value"] <= max(figure) for figure in values):
                yield f"github-{name}: {entry['name']} is {entry['value']}, which no round gave"


def bencher(folder, raw):
    document = load(f"{folder}/bencher", BENCHER)
    mine = collections.Counter(m["value"] for measures in document.values() for m in measures.values())
    others = collections.Counter(
        entry["value"] for name in ["bigger", "smaller"] for entry in load(f"{folder}/github-{name}", GITHUB)
    )
    if mine != others:
        yield f"bencher has {sum(mine.values())} figures, github-action-benchmark {sum(others.values())}"
    for bench, measures in document.items():
        for name, m in measures.items():
            if not m.get("lower_value", m["value"]) <= m["value"] <= m.get("upper_value", m["value"]):
                yield f"bencher: {bench} {name} lies outside its bounds"


def openmetrics(folder, raw):
    with open(f"{folder}/openmetrics", encoding="utf-8") as file:
        families = list(text_string_to_metric_families(file.read()))
    infos = [sample for family in families if family.type == "info" for sample in family.samples]
    if [sample.labels.get("run") for sample in infos] != [raw.header["id"]]:
        yield "openmetrics: the info is not of this run"
    gauges = [sample for family in families if family.type == "gauge" for sample in family.samples]
    names = {(sample.name, *sorted(sample.labels.items())) for sample in gauges}
    if len(names) != len(gauges):
        yield "openmetrics: two samples have one name"
    if raw.header["measures"]:
        wanted = sum(len(raw.values(case)) for case in raw.cases if raw.counts(case))
        if len(gauges) != wanted:
            yield f"openmetrics: {len(gauges)} gauges, the run has {wanted} figures"
    counts = {}
    for family in families:
        for sample in family.samples:
            if sample.name.endswith("_count"):
                counts[sample.labels["case"], sample.labels["name"]] = sample.value
    if counts != {name: sum(entry[0].values()) for name, entry in expected_histograms(raw).items()}:
        yield "openmetrics: the counts of the histograms are others than in the run"


def expected_histograms(raw):
    if not raw.header["measures"]:
        return {}
    return {name: entry for name, entry in raw.histograms.items() if raw.counts(name[0]) and entry[0]}


def hdr(folder, raw):
    reader = HistogramLogReader(f"{folder}/hdr", HdrHistogram(1, 10**15, 2))
    left = {(case, name.replace(" ", "_")): entry for (case, name), entry in expected_histograms(raw).items()}
    while (histogram := reader.get_next_interval_histogram()) is not None:
        _, case, name = histogram.get_tag().split("/", 2) if histogram.get_tag() else (None, None, None)
        if (case, name) not in left:
            yield f"hdr: {histogram.get_tag()} is none of the run's distributions"
            continue
        counts, low, high = left.pop((case, name))
        if histogram.total_count != sum(counts.values()):
            yield f"hdr: {case} {name}: {histogram.total_count} values, the run has {sum(counts.values())}"
        if not histogram.values_are_equivalent(histogram.get_max_value(), high):
            yield f"hdr: {case} {name}: the largest is {histogram.get_max_value()}, in the run {high}"
        if not histogram.values_are_equivalent(histogram.get_min_value(), low):
            yield f"hdr: {case} {name}: the smallest is {histogram.get_min_value()}, in the run {low}"
        for percentile in [50, 90, 99]:
            rank, seen = max(1, int(sum(counts.values()) * percentile / 100 + 0.5)), 0
            for index in sorted(counts):
                seen += counts[index]
                if seen >= rank:
                    break
            least, most = bounds(index)
            found = histogram.get_value_at_percentile(percentile)
            if not least * 0.985 <= found <= most * 1.015 + 1:
                yield f"hdr: {case} {name}: p{percentile} is {found}, in the run {least} to {most}"
    for case, name in left:
        yield f"hdr: {case} {name} is missing"


def trace(folder, raw):
    events = load(f"{folder}/perfetto", TRACE)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    if len(slices) != len(raw.measurements):
        yield f"the trace has {len(slices)} slices, the run {len(raw.measurements)} measurements"
    ends = collections.defaultdict(float)
    for event in slices:
        if event["ts"] < ends[event["tid"]] - 1e-3:
            yield f"the trace: {event['name']} begins before the slice before it ends"
        ends[event["tid"]] = event["ts"] + event["dur"]
    total = sum(result["duration_ns"] for result in raw.measurements.values()) / 1000
    if abs(sum(event["dur"] for event in slices) - total) > 1e-6 * max(1, total):
        yield "the slices of the trace are not as long as the measurements"


CHECKS = [junit, github, bencher, openmetrics, hdr, trace]


def faults(folder, raw):
    found = []
    for check in CHECKS:
        try:
            found += list(check(folder, raw))
        except Exception as error:
            found.append(f"{check.__name__}: {type(error).__name__}: {str(error)[:300]}")
    return found


def planted(folder, raw):
    """The check must be able to fail: each file with a lie in it. Returns the lies that were believed."""

    def without_last(text):
        return "".join(text.splitlines(True)[:-1])

    lies = {
        "junit": lambda text: text.replace("<testcase ", "<test ", 1),
        "github-smaller": lambda text: "[" + text.split("},", 1)[-1] if "}," in text else "[{}]",
        "bencher": lambda text: text.replace('"value":', '"value":7e77,"lower_value":8e77,"upper_value":', 1),
        "openmetrics": without_last,
        "hdr": without_last,
        "perfetto": lambda text: text.replace('"ph":"X"', '"ph":"B"', 1),
    }
    believed = []
    for name, lie in lies.items():
        if name == "hdr" and not expected_histograms(raw):
            continue
        with tempfile.TemporaryDirectory() as other:
            for file in os.listdir(folder):
                with open(f"{folder}/{file}", encoding="utf-8", newline="") as source:
                    text = source.read()
                with open(f"{other}/{file}", "w", encoding="utf-8", newline="") as target:
                    target.write(lie(text) if file == name else text)
            if not faults(other, raw):
                believed.append(name)
    return believed


folder, directory = sys.argv[1:]
raw = Raw(directory)
problems = faults(folder, raw)
if not problems:
    problems = [f"a lie in {name} was not found: this check is worth nothing" for name in planted(folder, raw)]
for problem in problems[:20]:
    print(f"{directory}: {problem}", file=sys.stderr)
if problems:
    sys.exit(1)
print(
    f"{directory}: {len(raw.cases)} cases and {len(expected_histograms(raw))} distributions read back by junitparser, "
    "prometheus-client, hdrhistogram and jsonschema"
)
