import Commands
import JSONText
import StrataStorage

/// `strata info`: shows the contents of a file, and how its space is used.
struct InfoCommand: Command {
    let name = "info"
    let summary = "shows versions, sizes and schema of FILE"
    let details = ["Reads headers, branches and the directories of row groups, not the values."]
    let positional = ["FILE"]
    let examples = [
        CommandExample("info people.strata", "as text"), CommandExample("info people.strata --json", "for a program"),
    ]
    let exitStatus = "0 shown, 2 the file is damaged"
    let options = [KeyFile.option, OptionSpecification.json]

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let store = try openForReading(path, try KeyFile.cipher(arguments))
        let found = try naming(path) { try store.inspect() }
        try naming(path) { try store.close() }
        if arguments.has("--json") {
            try Output.line(Self.json(found).text)
        } else {
            for line in Self.lines(found, path) { try Output.line(line) }
        }
        return 0
    }

    private static func lines(_ found: StoreInspection, _ path: String) -> [String] {
        let log =
            found.logBytes.map { "\(readable($0))\(found.isLogRequired ? ", to be replayed" : ", not needed")" }
            ?? (found.isLogRequired ? "missing" : "none, closed properly")
        let share = found.fileBytes == 0 ? 0 : Double(found.freeBytes) / Double(found.fileBytes) * 100
        var lines = [
            path,
            "  format      \(Format.version)",
            "  store       \(found.storeID.text)",
            "  version     \(found.version.rawValue), checkpoint \(found.checkpoint.rawValue)",
            "  headers     \(found.validSlots) of 2 verify",
            "  log         \(log)",
            "  file        \(readable(found.fileBytes))",
            "  live        \(readable(found.liveBytes))",
            "  free        \(readable(found.freeBytes)) (\(decimal(share, 1)) %)"
                + Self.places(freeBytes: found.freeBytes, runs: found.freeRuns, longest: found.longestFreeRun),
            "  schema      version \(found.schema.userVersion), "
                + counted(found.schema.tables.count, "class", several: "classes"),
        ]
        for (table, sizes) in zip(found.schema.tables, found.tables) {
            lines += [
                "",
                "\(table.name): \(counted(sizes.rows, "row")), \(readable(sizes.rowBytes)), "
                    + "indexes \(readable(sizes.indexBytes))",
            ]
            let width = table.columns.map(\.name.count).max() ?? 0
            for column in table.columns {
                let padding = String(repeating: " ", count: width - column.name.count)
                lines.append("  \(column.name)\(padding)  \(Self.words(column, found.schema))")
            }
        }
        return lines
    }

    /// Where the free pages are. The free map lists runs; free pages that it does not list yet become usable with the
    /// next commits.
    static func places(freeBytes: Int, runs: Int, longest: Int) -> String {
        if freeBytes == 0 { return "" }
        if runs == 0 { return ", released by the last commits, and not in the list of free pages yet" }
        return " in \(counted(runs, "run")), the longest \(readable(longest))"
    }

    private static func words(_ column: ColumnDefinition, _ schema: StoreSchema) -> String {
        var words = [ColumnText(column).typeName]
        if let target = column.target, let position = schema.position(of: target) {
            words.append("to \(schema.tables[position].name)")
        }
        if column.isOptional { words.append("optional") }
        switch column.index {
        case .none: break
        case .hash: words.append("indexed (equality)")
        case .ordered: words.append("indexed (order)")
        }
        return words.joined(separator: ", ")
    }

    private static func json(_ found: StoreInspection) -> JSONValue {
        let classes = zip(found.schema.tables, found.tables).map { table, sizes in
            JSONValue.members([
                ("name", .string(table.name)), ("id", .integer(Int(table.id.rawValue))), ("rows", .integer(sizes.rows)),
                ("row_bytes", .integer(sizes.rowBytes)), ("index_bytes", .integer(sizes.indexBytes)),
                (
                    "columns",
                    .array(
                        table.columns.map { column in
                            JSONValue.members([
                                ("name", .string(column.name)), ("id", .integer(Int(column.id.rawValue))),
                                ("type", .string(ColumnText(column).typeName)), ("optional", .bool(column.isOptional)),
                                ("index", .string("\(column.index)")),
                                (
                                    "target",
                                    column.target.flatMap { found.schema.position(of: $0) }.map {
                                        .string(found.schema.tables[$0].name)
                                    } ?? .null
                                ),
                            ])
                        })
                ),
            ])
        }
        return .members([
            ("format", .integer(Int(Format.version))), ("store_id", .string(found.storeID.text)),
            ("version", .unsigned(found.version.rawValue)), ("checkpoint", .unsigned(found.checkpoint.rawValue)),
            ("valid_headers", .integer(found.validSlots)), ("log_required", .bool(found.isLogRequired)),
            ("log_bytes", found.logBytes.map { .integer($0) } ?? .null), ("file_bytes", .integer(found.fileBytes)),
            ("live_bytes", .integer(found.liveBytes)), ("free_bytes", .integer(found.freeBytes)),
            ("free_runs", .integer(found.freeRuns)), ("longest_free_run_bytes", .integer(found.longestFreeRun)),
            ("schema_version", .unsigned(found.schema.userVersion)), ("classes", .array(classes)),
        ])
    }
}
