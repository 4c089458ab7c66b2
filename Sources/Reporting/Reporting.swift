import RunRecords

/// Makes reports, for people and for programs, from a run alone. It reads no clock, machine or disk, so that an old run
/// always gives the same report.
package enum Reporting {
    /// One document that needs nothing else: it fetches no script, style, font or picture. A level of detail is chosen
    /// that keeps it under 2 MB, if one does. A document without the figures of cases that passed says so; the CSV has
    /// these figures.
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

    /// Engines side by side, a row per figure and a column per engine; empty if the run does not have several peers.
    package static func peersCSV(_ run: Run) -> String {
        PeerCSV.text(RunDigest(run))
    }

    /// Figures over size with their growth; empty unless a scenario ran on several sizes.
    package static func scaleCSV(_ run: Run) -> String {
        ScaleCSV.text(RunDigest(run))
    }

    /// Engine, fault and outcome, with counts and shares; empty if the run tried no faults.
    package static func faultsCSV(_ run: Run) -> String {
        FaultCSV.text(RunDigest(run))
    }

    /// A summary for a terminal of `width` columns: the verdict first, then each question that the run has figures for.
    /// `colour` adds ANSI sequences; without it the text is plain.
    package static func terminal(_ run: Run, width: Int, colour: Bool) -> String {
        TerminalReport(digest: RunDigest(run), width: width, colour: colour).text
    }

    /// The summary as Markdown: the answer, a row per engine, and a table per question.
    package static func markdown(_ run: Run) -> String {
        MarkdownReport(digest: RunDigest(run)).text
    }

    /// A page of its own about where a case spent its time.
    package static func flameGraph(_ stacks: FoldedStacks, title: String) -> String {
        FlamePage(stacks: stacks, title: title).text
    }

    /// How many headline figures of a comparison are undecided, so that they need further rounds.
    /// - Parameter cases: the ids of the cases of the comparison.
    package static func openFigures(_ run: Run, of cases: Set<String>) -> Int {
        RunDigest(run).headlines.reduce(0) { total, headline in
            total
                + headline.lines.count {
                    $0.ratio.decision == .open
                        && $0.figures.values[headline.engine].map { cases.contains($0.result.test.id) } == true
                }
        }
    }

    /// The facts that equal seed, plan, binary and libraries determine: equal text on every machine, after a merge, and
    /// in whatever order the cases ran.
    package static func deterministic(_ run: Run) -> String {
        DeterministicReport.text(run)
    }
}
