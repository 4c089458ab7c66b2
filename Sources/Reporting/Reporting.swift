import RunRecords

/// Pure functions from a run to what people and other programs read. Nothing here looks at the clock, the machine or
/// the disk: a report of an old run is the report it had.
package enum Reporting {
    /// One self-contained document under 2 MB: no script, style, font or picture from elsewhere. A run that is too
    /// large for that loses the numbers of cases that passed first; they stay in the CSV, and the document says so.
    package static func html(_ run: Run) -> String {
        HTMLReport.text(RunDigest(run))
    }

    /// RFC 4180 with a header line: one row per measurement. The columns are those of `CSVReport.columns`.
    package static func csv(_ run: Run) -> String {
        CSVReport.text(run)
    }

    /// Rows of fields as CSV, by RFC 4180.
    package static func csv(_ rows: [[String]]) -> String {
        rows.map(CSVReport.line).joined()
    }

    /// Engines beside each other, a row per figure and a column per engine; empty for a run without several peers.
    package static func peersCSV(_ run: Run) -> String {
        PeerCSV.text(RunDigest(run))
    }

    /// Figures over size with their growth; empty for a run in which nothing ran on several sizes.
    package static func scaleCSV(_ run: Run) -> String {
        ScaleCSV.text(RunDigest(run))
    }

    /// Engine, fault and outcome, with counts and shares; empty for a run that tried no fault.
    package static func faultsCSV(_ run: Run) -> String {
        FaultCSV.text(RunDigest(run))
    }

    /// Questions before figures, for a terminal of `width` columns. A question that the run has no figures for is
    /// left out. `colour` adds ANSI sequences; without it the text is plain.
    package static func terminal(_ run: Run, width: Int, colour: Bool) -> String {
        TerminalReport(digest: RunDigest(run), width: width, colour: colour).text
    }

    /// The same as Markdown, to paste into an issue or a page: the answer, a row per engine, and a table per question.
    package static func markdown(_ run: Run) -> String {
        MarkdownReport(digest: RunDigest(run)).text
    }

    /// A page of its own about where a case spent its time.
    package static func flameGraph(_ stacks: FoldedStacks, title: String) -> String {
        FlamePage(stacks: stacks, title: title).text
    }

    /// How many headline figures of these cases no look has decided yet: what further rounds are for.
    /// - Parameter cases: ids of one comparison.
    package static func openFigures(_ run: Run, of cases: Set<String>) -> Int {
        RunDigest(run).headlines.reduce(0) { total, headline in
            total
                + headline.lines.count {
                    $0.ratio.decision == .open
                        && $0.figures.values[headline.engine].map { cases.contains($0.result.test.id) } == true
                }
        }
    }

    /// Only what is the same whenever seed, plan, binary and libraries are: on every machine, after a merge, and in
    /// whatever order the cases ended.
    package static func deterministic(_ run: Run) -> String {
        DeterministicReport.text(run)
    }
}
