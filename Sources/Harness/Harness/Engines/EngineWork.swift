import RunRecords

/// The kinds of batches that sessions run, and whose cost is compared between engines.
package enum Work: String, Sendable, CaseIterable {
    case open = "open and read a value"
    case load = "all rows in one transaction"
    case insertEach = "a row per transaction"
    case insertThreads = "a row per transaction, from several threads"
    case readPoints = "rows by key"
    case readRows = "one row, or a range of rows, in a call of its own"
    case sum = "sum of a column"
    case iterate = "row after row"
    case traverse = "along links"
    case readHeld = "properties of objects in hand"
    case update = "many updates in one transaction"
    case changeRows = "a change of one row in a call of its own"
    case delete = "many deletions in one transaction"
    case check = "verify a whole database"
}

/// What an adapter does for a batch. It is declared beside the adapter's code; each note is a row of
/// docs/equal-work.md.
package struct WorkNote: Sendable, Equatable {
    package var transaction: String
    /// The version that the reads see, and how often a newer one takes its place.
    package var snapshot: String
    /// Statements or calls for each row.
    package var perRow: String
    /// What stays in memory between batches.
    package var cache: String
    /// When changes move from the log, or from memory, to their final place, and whether the measured time includes
    /// that.
    package var writeBack: String

    package init(transaction: String, snapshot: String, perRow: String, cache: String, writeBack: String = "nothing") {
        self.transaction = transaction
        self.snapshot = snapshot
        self.perRow = perRow
        self.cache = cache
        self.writeBack = writeBack
    }
}

/// A session that lists the statements that the engine ran. It is found by `as?`, and needs no capability.
package protocol TracingSession: Session {
    /// Starts counting statements.
    func startTrace() throws(EngineError)
    /// Ends counting. Returns the texts of statements without their values, with their counts, in the order of first
    /// use.
    func endTrace() throws(EngineError) -> [(statement: String, count: Int)]
}

/// The document that lists, for every engine, the work behind its figures.
package enum EqualWork {
    /// The end of the part of the document that follows from the sources alone.
    package static let endOfDeclared = "<!-- What follows was observed by a run. -->"

    /// Statements of one engine for one kind of work, in the order of first use.
    package struct Statements: Sendable {
        package var engine: String
        package var work: Work
        package var statements: [(statement: String, count: Int)]

        package init(engine: String, work: Work, statements: [(statement: String, count: Int)]) {
            self.engine = engine
            self.work = work
            self.statements = statements
        }
    }

    /// The observed statements, as rows of Markdown below a sentence. A tuned engine has rows of its own only if its
    /// statements differ from the plain engine's; the sentence says so.
    package static func statementLines(_ observed: [Statements]) -> [String] {
        func isTuned(_ engine: String) -> Bool { engine.hasSuffix("-tuned") }
        let plain = observed.filter { !isTuned($0.engine) && !$0.statements.isEmpty }
        let other = observed.filter { tuned in
            guard isTuned(tuned.engine) else { return false }
            let same = observed.first { $0.engine + "-tuned" == tuned.engine && $0.work == tuned.work }
            return !(same?.statements.elementsEqual(tuned.statements, by: ==) ?? tuned.statements.isEmpty)
        }
        let tuned = observed.contains { isTuned($0.engine) && !$0.statements.isEmpty } || !other.isEmpty
        var text = "For 100 rows, counted by the engines that tell."
        if tuned && other.isEmpty { text += " Statements of the tuned engine are the same." }
        if !other.isEmpty { text += " Where a tuned engine stands below, it ran others than the plain one." }
        var lines = [text, "", "| engine | work | times | statement |", "|---|---|---|---|"]
        for entry in plain + other {
            lines += entry.statements.map {
                "| `\(entry.engine)` | \(entry.work.rawValue) | \($0.count) | `\($0.statement)` |"
            }
        }
        return lines
    }

    /// What the adapters declare, as Markdown.
    package static func declared(_ engines: [any Engine]) -> String {
        var lines = [
            "# Equal work", "",
            "This page says what each engine does for a figure, so that a reader knows whether two figures compare.",
            "`assay equal-work` writes it; a test compares its first part with the declarations of the adapters, and",
            "`assay verify-figures` compares the figures with programs that do the same work without the harness.", "",
            "Every figure of writing is the time to the acknowledgement. If an engine has work left then, a second",
            "figure, `with close`, includes all of it.", "",
        ]
        for work in Work.allCases {
            let notes = engines.compactMap { engine in engine.workNote(work).map { (engine.name, $0) } }
            guard !notes.isEmpty else { continue }
            lines += [
                "## \(work.rawValue.prefix(1).uppercased() + work.rawValue.dropFirst())", "",
                "| engine | transaction | snapshot | for each row | cache | write-back |", "|---|---|---|---|---|---|",
            ]
            lines += notes.map { name, note in
                let cells = [note.transaction, note.snapshot, note.perRow, note.cache, note.writeBack]
                return "| `\(name)` | \(cells.joined(separator: " | ")) |"
            }
            lines.append("")
        }
        lines += ["## Settings", "", "| engine | durability | settings |", "|---|---|---|"]
        for engine in engines {
            for durability in engine.durabilityClasses {
                let settings = engine.settings(for: durability).list.map { "\($0.name) = \($0.value)" }
                lines.append("| `\(engine.name)` | \(durability.rawValue) | \(settings.joined(separator: "; ")) |")
            }
        }
        return (lines + ["", endOfDeclared, ""]).joined(separator: "\n")
    }
}
