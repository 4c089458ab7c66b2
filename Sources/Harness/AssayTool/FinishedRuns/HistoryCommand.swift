import Commands
import Files
import Reporting
import RunRecords

#if SQLite
    import RunHistory
#endif

/// `assay history`: keeps runs in a database, and shows their figures over time.
struct HistoryCommand: Command {
    let name = "history"
    let summary = "keeps runs in a database, and shows where a figure changed"
    let question = "since when is it slower?"
    let positional = ["ACTION", "[ARGUMENT...]"]
    let examples = [
        CommandExample("history add D", "keeps a run"),
        CommandExample("history trend 'commit strata' commits_per_second", "since when is it slower?"),
        CommandExample("history site OUT", "charts of all figures, as pages that open from disk"),
    ]
    let exitStatus = "0 done"
    let options = [
        OptionSpecification("--db", value: "FILE", "the database (Reports/history.sqlite)"),
        OptionSpecification("--reference", value: "ENGINE", "trend: the engine to compare the figure with"),
        OptionSpecification("--csv", value: "FILE", "trend: writes a row for each run"),
    ]

    private enum Action: String, CaseIterable {
        case add, list, show, trend, site

        var arguments: [String] {
            switch self {
            case .add: ["RUN..."]
            case .list: []
            case .show: ["RUN"]
            case .trend: ["CASE", "METRIC"]
            case .site: ["OUT"]
            }
        }
    }

    var details: [String] {
        [
            "Answers: \(question)", "",
            "  assay history add RUN...           adds finished runs, each once",
            "  assay history list                 every run, in the order of their start",
            "  assay history show RUN             a run with its figures",
            "  assay history trend CASE METRIC    a figure over the runs, and the runs where it changed",
            "  assay history site OUT             pages of all trends and runs, in an empty directory", "",
            "CASE is an id, or words that name one case: \"point-read strata\". METRIC is a name as show prints it.",
            "A trend shows a time as a ratio to another engine of the same run, a count by itself: docs/history.md.",
        ]
    }

    func run(_ arguments: Arguments) throws -> Int32 {
        let word = arguments.positional[0]
        guard let action = Action(rawValue: word) else {
            let known = Action.allCases.map(\.rawValue)
            throw UsageError(NearestName.complaint("action", word, among: known), command: name)
        }
        let rest = Array(arguments.positional.dropFirst())
        if rest.count < action.arguments.count {
            throw UsageError("\(action.arguments[rest.count]) is missing after \(word)", command: name)
        }
        if rest.count > action.arguments.count, action != .add {
            throw UsageError("too many arguments: \(rest[action.arguments.count])", command: name)
        }
        for option in ["--reference", "--csv"] where arguments.has(option) && action != .trend {
            throw UsageError("\(option) belongs to trend", command: name)
        }
        #if SQLite
            do throws(ArchiveError) {
                try perform(action, rest, arguments)
            } catch {
                guard error.kind == .wrongInput else { throw error }
                throw UsageError(error.description, command: name)
            }
            return 0
        #else
            throw UsageError(
                "this build has no SQLite, which keeps the archive: apt-get install libsqlite3-dev, and build again",
                command: name)
        #endif
    }
}

#if SQLite
    extension HistoryCommand {
        static let standardFile = "Reports/history.sqlite"

        private func perform(_ action: Action, _ words: [String], _ arguments: Arguments) throws(ArchiveError) {
            let path = arguments.value("--db") ?? Self.standardFile
            switch action {
            case .add: try add(words, to: path)
            case .list:
                let store = try RunArchive(path: path, creates: false)
                let runs = try store.runs()
                try print(Reporting.terminal(runs, width: Output.width, colour: Output.wantsColour))
            case .show:
                let store = try RunArchive(path: path, creates: false)
                let run = try Self.run(words[0], in: store, path)
                try print(Reporting.terminal(run, width: Output.width, colour: Output.wantsColour))
            case .trend:
                let store = try RunArchive(path: path, creates: false)
                let trend = try store.reading { () throws(ArchiveError) in
                    let selection = TrendSelection(store: store, path: path)
                    return try selection.trend(words[0], words[1], reference: arguments.value("--reference"))
                }
                if let file = arguments.value("--csv") { try write(Reporting.csv(trend), to: file) }
                try print(Reporting.terminal(trend, width: Output.width, colour: Output.wantsColour))
            case .site: try site(words[0], of: path)
            }
        }

        /// The target directory is checked before any page is rendered.
        private func site(_ out: String, of path: String) throws(ArchiveError) {
            let directory = try Self.wrongInput { () throws(RecordingError) in try SiteDirectory(trimmed(out)) }
            let store = try RunArchive(path: path, creates: false)
            let selection = TrendSelection(store: store, path: path)
            let pages = try store.reading { () throws(ArchiveError) in try selection.site().pages }
            try Self.wrongInput { () throws(RecordingError) in
                try directory.write(pages.map { ($0.name, $0.text) })
            }
            try print("\(counted(pages.count, "page")): \(trimmed(out))/index.html\n")
        }

        private static func wrongInput<Output>(
            _ body: () throws(RecordingError) -> Output
        ) throws(ArchiveError) -> Output {
            do throws(RecordingError) {
                return try body()
            } catch {
                throw ArchiveError(.wrongInput, error.description)
            }
        }

        /// Reads all runs before it adds the first, so that an invalid one leaves the database unchanged.
        private func add(_ paths: [String], to file: String) throws(ArchiveError) {
            var runs: [RecordedRun] = []
            for path in paths { runs.append(try Self.load(path)) }
            let store = try RunArchive(path: file, creates: true)
            for run in runs {
                let addition = try store.add(run)
                let counts = "\(counted(run.cases.count, "case")), \(counted(run.figureCount, "figure"))"
                try print(
                    addition == .added
                        ? "added \(run.id): \(counts)\n" : "\(run.id) is in the archive already\n")
                for recorded in run.cases where addition == .added && recorded.figures.isEmpty {
                    try print("  no figures: \(recorded.test.title), \(recorded.verdict.shownWord)\n")
                }
            }
        }

        private static func load(_ path: String) throws(ArchiveError) -> RecordedRun {
            do {
                let directory = RunDirectory(path: trimmed(path))
                if FileTree.exists(directory.path + "/ab.json") {
                    throw RecordingError("\(path) holds a comparison of two builds, and no run of a plan")
                }
                let run = try BaselineCommand.load(path, command: "history")
                return try RecordedRun(run, digest: try directory.digest())
            } catch let error as UsageError {
                throw ArchiveError(.wrongInput, error.message)
            } catch {
                throw ArchiveError(.wrongInput, "\(error)")
            }
        }

        private static func run(_ id: String, in store: RunArchive, _ path: String) throws(ArchiveError)
            -> RecordedRun
        {
            let found = try store.reading { () throws(ArchiveError) in try store.runs(named: id) }
            if found.count == 1 { return found[0] }
            guard found.isEmpty else {
                let names = found.map { "\($0.id) of \($0.machine.host), digest \($0.digest)" }
                throw ArchiveError(
                    .wrongInput, "\(id) may be one of several runs: \(names.prefix(10).joined(separator: "; "))")
            }
            let known = try store.runs().map(\.run.id)
            let nearest = NearestName.find(id, among: known).map { "; did you mean \($0)?" } ?? ""
            throw ArchiveError(.wrongInput, "\(path) has no run \(id)\(nearest)  assay history list  shows all")
        }

        private func print(_ text: String) throws(ArchiveError) {
            do throws(OutputError) { try Output.write(text) } catch { throw ArchiveError(.failure, "\(error)") }
        }

        private func write(_ text: String, to file: String) throws(ArchiveError) {
            do throws(FileTreeError) {
                try FileTree.replaceText(file, text)
            } catch {
                throw ArchiveError(.failure, "\(error)")
            }
        }
    }
#endif
