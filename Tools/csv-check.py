"""What Tools/csv-check runs: reads each results.csv in three ways and compares."""

import csv
import json
import sys
import tempfile

import duckdb
import pandas

KEY = ["case_id", "round", "side", "metric", "statistic", "label", "params", "trial", "outcome"]
NUMBERS = ["value", "ci_low", "ci_high", "n", "round", "pair"]


def pairs(members):
    """An object as a dictionary; refuses a name that stands twice, which json.loads would swallow."""
    names = [name for name, _ in members]
    if len(names) != len(set(names)):
        raise ValueError(f"a name stands twice in {names}")
    return dict(members)


def faults(path):
    """What is wrong with the file, a sentence each."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    found = []
    table = pandas.read_csv(path, keep_default_na=False, na_values=[""])
    if len(table) != len(rows):
        found.append(f"pandas reads {len(table)} rows, {len(rows)} stand there")
    base = duckdb.connect()
    base.execute(
        "create table results as select * from read_csv(?, header = true, nullstr = '', sample_size = -1)", [path]
    )
    count = base.execute("select count(*) from results").fetchone()[0]
    if count != len(rows):
        found.append(f"DuckDB reads {count} rows, {len(rows)} stand there")
    if not rows:
        return found + ["the file has no row"]

    for column in NUMBERS:
        if table[column].notna().any() and not pandas.api.types.is_numeric_dtype(table[column]):
            found.append(f"pandas takes {column} for {table[column].dtype}")
        total = sum(float(row[column]) for row in rows if row[column])
        seen = base.execute(f"select coalesce(sum(cast({column} as double)), 0) from results").fetchone()[0]
        for name, other in [("pandas", pandas.to_numeric(table[column], errors="coerce").sum()), ("DuckDB", seen)]:
            if abs(other - total) > 1e-6 * max(1, abs(total)):
                found.append(f"the sum of {column} is {total}, in {name} {other}")

    for row in rows:
        try:
            if row["params"] and not isinstance(json.loads(row["params"], object_pairs_hook=pairs), dict):
                found.append(f"params is no object: {row['params']}")
        except ValueError as error:
            found.append(f"params is no JSON: {error}: {row['params']}")
    base.execute("select json_extract_string(params, '$.size') from results where params is not null").fetchall()

    twice = table[table.duplicated(KEY, keep=False)]
    if len(twice) > 0:
        found.append(f"{len(twice)} rows are told apart by nothing:\n{twice[KEY].head(6).to_string()}")
    same = base.execute(
        f"select count(*) from (select {', '.join(KEY)} from results group by all having count(*) > 1)"
    ).fetchone()[0]
    if (same > 0) != (len(twice) > 0):
        found.append(f"DuckDB finds {same} names of several rows, pandas {len(twice)} such rows")
    return found


def planted(path):
    """The check must be able to fail: a row twice, and a params that is no JSON."""
    with open(path, newline="", encoding="utf-8") as file:
        head, first, *rest = list(csv.reader(file, strict=True))
    broken = list(first)
    broken[head.index("params")] = "size=3 threads=4"
    for lines in [[head, first, first] + rest, [head, broken] + rest]:
        with tempfile.NamedTemporaryFile("w", newline="", suffix=".csv", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
            file.flush()
            try:
                if not faults(file.name):
                    return False
            except duckdb.Error:
                pass
    return True


status = 0
for name in sys.argv[1:]:
    problems = faults(name)
    if not problems and not planted(name):
        problems = ["a planted mistake was not found: this check is worth nothing"]
    for problem in problems[:20]:
        print(f"{name}: {problem}", file=sys.stderr)
    if problems:
        status = 1
    else:
        print(f"{name}: read by pandas {pandas.__version__} and DuckDB {duckdb.__version__}, every row by its own name")
sys.exit(status)
