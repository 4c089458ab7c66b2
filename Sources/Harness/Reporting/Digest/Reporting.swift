/// Makes reports, for people and for programs, from a run alone. It reads no clock, machine or disk, so that an old run
/// always gives the same report.
///
/// Each report is a function that stands beside the type that makes it: `html` in `HTML/Page/HTMLReport.swift`,
/// `terminal` in `Terminal/TerminalReport.swift`, `csv` in `CSV/CSVReport.swift`.
package enum Reporting {}
