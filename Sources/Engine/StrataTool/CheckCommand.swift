import Commands
import JSONText
import StrataRepair
import StrataStorage

/// `strata check`: verifies every node, row and index of a file.
struct CheckCommand: Command {
    let name = "check"
    let summary = "verifies every byte and every rule of FILE"
    let details = [
        "Reads all nodes: checksums, order and counts of trees, indexes and backlinks against the columns.",
        "Writes nothing. Each finding is a line with page, offset, class and reason.",
    ]
    let positional = ["FILE"]
    let examples = [
        CommandExample("check people.strata", "while no program has it open"),
        CommandExample("check people.strata --json", "for a program"),
    ]
    let exitStatus = "0 sound, 2 damaged"
    let options = [KeyFile.option, OptionSpecification.json]

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let bytes = try size(path)
        let start = ContinuousClock.now
        Output.progress("checking \(readable(bytes)) ..")
        var findings = try findings(path, try KeyFile.cipher(arguments))
        let seconds = (ContinuousClock.now - start) / Duration.seconds(1)
        Output.progress("")
        let speed = "\(decimal(Double(bytes) / max(seconds, 1e-9) / 1e9, 2)) GB/s"
        if findings.isEmpty {
            try report(arguments, path, bytes: bytes, seconds: seconds, findings: [])
            if !arguments.has("--json") {
                try Output.line("\(path): sound. \(readable(bytes)) in \(decimal(seconds, 2)) s, \(speed)")
            }
            return 0
        }
        findings.sort { $0.page ?? -1 < $1.page ?? -1 }
        try report(arguments, path, bytes: bytes, seconds: seconds, findings: findings)
        if !arguments.has("--json") {
            for finding in findings { try Output.line(finding.line) }
            try Output.line(
                "\(path): damaged, \(counted(findings.count, "finding")). "
                    + "strata salvage \(path) --to NEW gets back what can be read")
        }
        return 2
    }

    /// Something wrong with the file: a node that does not verify, or a broken rule, which has no page.
    struct Finding {
        var page: Int?
        var pages = 1
        var offset: Int?
        var kind: String?
        var table: String?
        var reason: String

        var line: String {
            var words: [String] = []
            let end = pages > 1 ? " to \((page ?? 0) + pages - 1)" : ""
            if let page { words.append("page\(pages > 1 ? "s" : "") \(page)\(end), offset \(offset ?? 0)") }
            if let kind { words.append(kind + (table.map { " of \($0)" } ?? "")) }
            return words.isEmpty ? reason : words.joined(separator: ", ") + ": " + reason
        }

        var json: JSONValue {
            .members([
                ("page", page.map { .integer($0) } ?? .null), ("pages", .integer(pages)),
                ("offset", offset.map { .integer($0) } ?? .null),
                ("node", kind.map { .string($0) } ?? .null), ("class", table.map { .string($0) } ?? .null),
                ("reason", .string(reason)),
            ])
        }
    }

    private func findings(_ path: String, _ cipher: (any Cipher)?) throws -> [Finding] {
        var first: Finding?
        do {
            var options = StoreOptions(readOnly: true)
            options.cipher = cipher
            let store = try Store.open(path: path, options: options)
            try store.checkInvariants { done, total in
                Output.progress("checked \(done) of \(total) pages ..")
            }
            let slots = try store.inspect().validSlots
            try store.close()
            if slots == 2 { return [] }
        } catch let error as InvariantViolation {
            first = Finding(reason: "\(error)")
        } catch let error as StorageError {
            let explained = ToolError(opening: error, path: path, cipher)
            guard explained.status == 2 else { throw explained }
            first = Finding(reason: ToolError.finding(error))
            if case .corrupt(let page, let offset, let reason) = error {
                first = Finding(page: Int(page.rawValue), offset: offset, reason: ToolError.reason(reason))
            }
        }
        var found = try all(path, cipher)
        let isListed = found.contains { $0.page == first?.page }
        if let first, found.isEmpty || (first.page != nil && !isListed) { found.append(first) }
        return found
    }

    /// Every node that does not verify.
    private func all(_ path: String, _ cipher: (any Cipher)?) throws -> [Finding] {
        var settings = SalvageOptions()
        settings.cipher = cipher
        let report: SalvageReport
        do { report = try Salvage.examine(path, options: settings) } catch { throw ToolError(error, path: path) }
        let names = Dictionary(report.tables.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        return report.damage.map { damage in
            Finding(
                page: Int(damage.page.rawValue), pages: damage.pages, offset: damage.offset,
                kind: damage.kind?.word ?? "header",
                table: damage.table.map { names[$0] ?? "class \($0.rawValue)" },
                reason: ToolError.reason(damage.reason))
        }
    }

    private func report(
        _ arguments: Arguments, _ path: String, bytes: Int, seconds: Double, findings: [Finding]
    ) throws {
        guard arguments.has("--json") else { return }
        try Output.line(
            JSONValue.members([
                ("sound", .bool(findings.isEmpty)), ("bytes", .integer(bytes)), ("seconds", .real(seconds)),
                ("findings", .array(findings.map(\.json))),
            ]).text)
    }
}
