import Commands
import CoreDataFiles
import JSONText
import Platform
import Synchronization

/// `strata coredata`: shows a store of Core Data, imports it into a new file, and compares both.
struct CoreDataCommand: Command {
    let name = "coredata"
    let summary = "looks into a Core Data store, imports it into NEW, or compares both"
    let details = [
        "info shows entities, properties, where their names come from, and what does not fit; --swift prints model",
        "classes for the new file. import writes NEW, or copies to NEW what changed in STORE since. It can be",
        "stopped at any time; the same command continues it. verify compares every row, link and list of both.",
        "STORE is only read, from a copy with its write-ahead log, and must not be open in another program.",
        "Names and types come from --mapping, else --model, else the store's Z_MODELCACHE, else its columns.",
    ]
    let positional = ["info|import|verify", "STORE"]
    let examples = [
        CommandExample("coredata info Old.sqlite", "entities, properties, and what does not fit"),
        CommandExample("coredata import Old.sqlite --to new.strata", "again: what changed since"),
        CommandExample("coredata verify Old.sqlite --to new.strata", "every row, link and list"),
    ]
    let exitStatus = "0 fine, 2 both differ, or STORE is damaged"
    let options = [
        OptionSpecification("--to", value: "NEW.strata", "the new file; for import and verify"),
        OptionSpecification("--model", value: "FILE", "the compiled model: a .mom file or a .momd folder"),
        OptionSpecification("--mapping", value: "FILE", "corrections of the model, as JSON5"),
        OptionSpecification("--swift", "info: model classes instead of text"),
        OptionSpecification("--all", "import: compare all values, and not only rows whose save counter changed"),
        OptionSpecification.json,
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        let words = ["info", "import", "verify"]
        let word = arguments.positional[0]
        guard words.contains(word) else {
            throw UsageError(NearestName.complaint("command of coredata", word, among: words), command: name)
        }
        #if SQLite
            do { return try CoreDataRun(word, arguments).run() } catch let error as CoreDataError {
                throw ToolError(error)
            }
        #else
            throw ToolError("this strata was built without SQLite; install libsqlite3-dev and build it again")
        #endif
    }
}

#if SQLite
    extension ToolError {
        init(_ error: CoreDataError) {
            let status: Int32 =
                switch error.kind {
                case .damaged, .logLost: 2
                case .wrongInput: 64
                default: 1
                }
            self.init(error.description, status: status)
        }
    }

    /// Whether the user pressed Ctrl-C: the import then commits what it has, and ends.
    private let isInterrupted = Atomic(false)

    private struct CoreDataRun {
        private let word: String
        private let arguments: Arguments
        private let source: String
        private let destination: String?

        init(_ word: String, _ arguments: Arguments) {
            self.word = word
            self.arguments = arguments
            source = arguments.positional[1]
            destination = arguments.value("--to")
        }

        func run() throws -> Int32 {
            var options = CoreDataImport.Options()
            options.modelPath = arguments.value("--model")
            options.comparesAll = arguments.has("--all")
            if let path = arguments.value("--mapping") {
                let text = String(decoding: try ModelSources.bytes(path), as: UTF8.self)
                options.mapping = try CoreDataMapping(text, path: path)
            }
            if word == "info" { return try info(options) }
            guard let destination else {
                throw UsageError("\(word) needs --to NEW.strata", command: "coredata")
            }
            signal(SIGINT) { _ in isInterrupted.store(true, ordering: .relaxed) }
            options.shouldStop = { isInterrupted.load(ordering: .relaxed) }
            let verb = word
            options.progress = { done, all in
                Output.progress("\(verb): \(done) of \(all) rows (\(all == 0 ? 100 : done * 100 / all) %)")
            }
            defer { Output.progress("") }
            return try naming(destination) {
                try word == "import" ? importing(destination, options) : verifying(destination, options)
            }
        }

        private func info(_ options: CoreDataImport.Options) throws -> Int32 {
            let temporary = (getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/strata-coredata"
            let found = try StoreDescription(
                source, modelPath: options.modelPath, mapping: options.mapping, beside: temporary)
            if arguments.has("--swift") {
                try Output.line(try SwiftText(found.layout, options.mapping).text)
            } else if arguments.has("--json") {
                let members: [(String, JSONValue)] = [
                    ("notes", .strings(found.notes)), ("lines", .strings(found.lines)),
                ]
                try Output.line(JSONValue.members(members).text)
            } else {
                for line in [source] + found.lines { try Output.line(line) }
            }
            return 0
        }

        private func importing(_ destination: String, _ options: CoreDataImport.Options) throws -> Int32 {
            let start = ContinuousClock.now
            let report = try CoreDataImport(source, to: destination, options).run()
            let seconds = (ContinuousClock.now - start) / Duration.seconds(1)
            Output.progress("")
            if arguments.has("--json") {
                try Output.line(
                    JSONValue.members([
                        ("way", .string(report.way.rawValue)), ("rows", .integer(report.rows)),
                        ("inserted", .integer(report.inserted)), ("changed", .integer(report.changed)),
                        ("deleted", .integer(report.deleted)), ("lists", .integer(report.lists)),
                        ("seconds", .real(seconds)), ("findings", .strings(report.findings.summary)),
                        ("notes", .strings(report.notes)),
                    ]).text)
                return 0
            }
            for note in report.notes { try Output.line("note: \(note)") }
            for line in report.findings.summary { try Output.line(line) }
            try Output.line(
                "\(destination): \(report.way.rawValue); \(report.rows) rows in the store, \(report.inserted) "
                    + "inserted, \(report.changed) changed, \(report.deleted) deleted, \(report.lists) lists written, "
                    + "\(decimal(seconds, 2)) s")
            return 0
        }

        private func verifying(_ destination: String, _ options: CoreDataImport.Options) throws -> Int32 {
            let start = ContinuousClock.now
            let report = try CoreDataVerification(source, against: destination, options).run()
            let seconds = (ContinuousClock.now - start) / Duration.seconds(1)
            Output.progress("")
            let hashes = [report.storedHash, report.foundHash].map { String($0, radix: 16) }
            if arguments.has("--json") {
                try Output.line(
                    JSONValue.members([
                        ("equal", .bool(report.isEqual)), ("rows", .integer(report.rows)),
                        ("lists", .integer(report.lists)), ("own", .integer(report.own)),
                        ("hashes", .strings(hashes)), ("seconds", .real(seconds)),
                        ("findings", .strings(report.findings.summary)),
                    ]).text)
                return report.isEqual ? 0 : 2
            }
            for count in report.counts {
                try Output.line("\(count.entity): \(count.stored) rows in the store, \(count.found) in the file")
            }
            for line in report.findings.summary { try Output.line(line) }
            if report.own > 0 { try Output.line("\(report.own) rows were made in the file and are not compared") }
            try Output.line(
                "\(report.isEqual ? "equal" : "NOT equal"): \(report.rows) rows, \(report.lists) lists, hashes "
                    + "\(hashes[0]) and \(hashes[1]), \(decimal(seconds, 2)) s")
            return report.isEqual ? 0 : 2
        }
    }
#endif
