/// The tables of an archive of runs. A change of them needs another `RunArchive.format`.
enum ArchiveSchema {
    static let statements = [
        """
        CREATE TABLE run (key INTEGER PRIMARY KEY, id TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, host TEXT NOT NULL, \
        time INTEGER NOT NULL, plan TEXT NOT NULL, seed TEXT NOT NULL, commit_id TEXT NOT NULL, branch TEXT NOT NULL, \
        assay_version TEXT NOT NULL, build_digest TEXT NOT NULL, machine TEXT NOT NULL, UNIQUE (id, host))
        """,
        "CREATE TABLE test (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, description TEXT NOT NULL)",
        """
        CREATE TABLE result (key INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, \
        test INTEGER NOT NULL REFERENCES test, engine_version TEXT NOT NULL, verdict TEXT NOT NULL, UNIQUE (run, test))
        """,
        "CREATE INDEX result_by_test ON result (test)",
        """
        CREATE TABLE figure (key INTEGER PRIMARY KEY, result INTEGER NOT NULL REFERENCES result, \
        metric TEXT NOT NULL, unit TEXT NOT NULL, direction TEXT NOT NULL, kind TEXT NOT NULL, \
        statistic TEXT NOT NULL, label TEXT NOT NULL, value REAL NOT NULL, low REAL, high REAL, \
        count INTEGER NOT NULL, UNIQUE (result, metric, statistic, label))
        """,
        """
        CREATE TABLE ratio (figure INTEGER NOT NULL REFERENCES figure, reference TEXT NOT NULL, \
        version TEXT NOT NULL, value REAL NOT NULL, low REAL, high REAL, pairs INTEGER NOT NULL, \
        PRIMARY KEY (figure, reference)) WITHOUT ROWID
        """,
    ]
}
