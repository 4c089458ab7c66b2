import Commands
import JSONText
import Platform
import StrataFiles
import StrataStorage

/// `strata dump`: writes rows as text for other programs.
struct DumpCommand: Command {
    let name = "dump"
    let summary = "writes the rows of FILE as JSON lines or CSV"
    let details = [
        "Every value exactly: numbers in the shortest form that reads back the same, data as base 64, links as the",
        "keys of the rows that they lead to, dates as seconds since 2001-01-01 00:00 UTC. Rows come in the order of",
        "their keys. CSV is RFC 4180; null is an empty field, an empty string is \"\"; lists and maps are JSON.",
    ]
    let positional = ["FILE"]
    let examples = [
        CommandExample("dump people.strata --class Dog", "JSON lines on standard output"),
        CommandExample("dump people.strata --format csv --out DIR", "a file per class"),
    ]
    let exitStatus = "0 written, 2 the file is damaged: at most the rows before the damage were written"
    let options = [
        KeyFile.option,
        OptionSpecification("--class", value: "NAME", "this class only; may be given more than once"),
        OptionSpecification("--format", value: "jsonl|csv", "jsonl if not given"),
        OptionSpecification(
            "--out", value: "DIR", "a file per class in DIR, which is made; instead of standard output"),
    ]

    enum Format: String, CaseIterable { case jsonl, csv }

    func run(_ arguments: Arguments) throws -> Int32 {
        let path = arguments.positional[0]
        let named = arguments.value("--format") ?? "jsonl"
        guard let format = Format(rawValue: named) else {
            throw UsageError(
                NearestName.complaint("format", named, among: Format.allCases.map(\.rawValue)), command: name)
        }
        let store = try openForReading(path, try KeyFile.cipher(arguments))
        let view = try naming(path) { try store.snapshot().view }
        let tables = try chosen(arguments, view.schema)
        let directory = arguments.value("--out")
        if format == .csv && tables.count > 1 && directory == nil {
            throw UsageError(
                "CSV of \(tables.count) classes needs --out DIR, or --class with one of \(Self.names(view.schema))",
                command: name)
        }
        if let directory { try Self.make(directory) }
        let met = view.nothingMet
        for table in tables {
            let sink = try Self.sink(directory, view.schema.tables[table].name, format, beside: path)
            let writer = RowText(
                view, table, format: format, met: met, sink: sink,
                namesClass: directory == nil && view.schema.tables.count > 1)
            do { try naming(path) { try writer.write() } } catch {
                // An empty file would look like a class without rows.
                try sink.removeIfEmpty()
                throw error
            }
        }
        try naming(path) { try store.close() }
        return 0
    }

    private func chosen(_ arguments: Arguments, _ schema: StoreSchema) throws -> [Int] {
        let names = arguments.all("--class")
        if names.isEmpty { return Array(schema.tables.indices) }
        return try names.map { wanted in
            guard let position = schema.position(named: wanted) else {
                throw UsageError(
                    NearestName.complaint("class", wanted, among: schema.tables.map(\.name)), command: self.name)
            }
            return position
        }
    }

    private static func names(_ schema: StoreSchema) -> String {
        schema.tables.map(\.name).joined(separator: ", ")
    }

    /// Standard output, or a new file for a class, with the owner and the permissions of the database.
    private static func sink(
        _ directory: String?, _ name: String, _ format: Format, beside source: String
    ) throws -> ByteSink {
        guard let directory else { return ByteSink(nil) }
        // A class may have any name, a file may not: other bytes are written as %xx.
        var safe = ""
        for byte in name.utf8 {
            let isPlain = byte >= 0x80 || (byte > 0x20 && byte != 0x7F && byte != 0x2F && byte != 0x25)
            safe += isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        if safe.hasPrefix(".") { safe = "%2e" + safe.dropFirst() }
        let path = directory + "/" + safe + "." + format.rawValue
        try refuseExisting(path)
        return ByteSink(try naming(path) { try POSIXFileSystem().open(path, .createBeside(source)) }, at: path)
    }

    private static func make(_ directory: String) throws {
        // With the directories above it.
        var path = directory.hasPrefix("/") ? "/" : ""
        for part in directory.split(separator: "/") {
            path += (path.isEmpty || path == "/" ? "" : "/") + part
            guard mkdir(path, 0o777) != 0, errno != EEXIST else { continue }
            throw ToolError("\(path) cannot be made: \(String(cString: strerror(errno)))")
        }
    }
}

/// Writes the rows of one class.
struct RowText {
    private let view: ReadView
    private let table: Int
    private let format: DumpCommand.Format
    private let sink: ByteSink
    private let columns: [ColumnText]
    /// The writer of each column's collections; nil for a column without collections.
    private let collections: [CollectionText?]
    /// The name of the key column: the primary key's if it is the row key, else `_key`.
    private let keyName: String?
    private let className: String?
    private let met: MetNodes

    /// - Parameter met: nodes visited in earlier tables.
    init(
        _ view: ReadView, _ table: Int, format: DumpCommand.Format, met: MetNodes, sink: ByteSink, namesClass: Bool
    ) {
        self.met = met
        self.view = view
        self.table = table
        self.format = format
        self.sink = sink
        let definition = view.schema.tables[table]
        columns = definition.columns.map(ColumnText.init)
        collections = definition.columns.indices.map { CollectionText(view, table, column: $0, met: met) }
        keyName =
            definition.tag == 1 ? String(validating: definition.information, as: UTF8.self) ?? "_key" : "_key"
        className = namesClass ? definition.name : nil
    }

    func write() throws {
        if format == .csv {
            putFields(([keyName ?? "_key"] + columns.map(\.name)).map { .string($0) })
        }
        var failure: (any Error)?
        let all = Array(columns.indices)
        let values = all.filter { [.bytes, .links].contains(view.schema.tables[table].columns[$0].type) }
        try view.scan(table, columns: all, meeting: met) { (batch) throws(StorageError) in
            for column in values {
                for row in 0..<batch.count where !batch.isNull(column, row) && !batch.isTree(column, row) {
                    try met.count(bytes: batch.bytes(column, row).count)
                }
            }
            do {
                for row in 0..<batch.count {
                    if format == .csv { try putFields(batch, row) } else { try putObject(batch, row) }
                    try sink.endRow()
                }
            } catch {
                failure = error
                return false
            }
            return true
        }
        if let failure { throw failure }
        try sink.flush()
    }

    private func putObject(_ batch: RowBatch, _ row: Int) throws {
        sink.put("{")
        if let className { putMember("_class", .string(className), isFirst: true) }
        putMember(keyName ?? "_key", .integer(batch.key(row).rawValue), isFirst: className == nil)
        for (index, column) in columns.enumerated() {
            guard let collection = collections[index] else {
                putMember(column.name, column.value(batch, index, row) ?? .null)
                continue
            }
            sink.put(",")
            sink.put(JSONValue.string(column.name).bytes)
            sink.put(":")
            try collection.write(batch.key(row)) { bytes in
                sink.put(bytes)
                try sink.endRow()
            }
        }
        sink.put("}\n")
    }

    private func putMember(_ name: String, _ value: JSONValue, isFirst: Bool = false) {
        if !isFirst { sink.put(",") }
        sink.put(JSONValue.string(name).bytes)
        sink.put(":")
        sink.put(value.bytes)
    }

    private func putFields(_ batch: RowBatch, _ row: Int) throws {
        putField(.integer(batch.key(row).rawValue))
        for (index, column) in columns.enumerated() {
            sink.put(",")
            guard let collection = collections[index] else {
                putField(column.value(batch, index, row))
                continue
            }
            sink.put("\"")
            try collection.write(batch.key(row)) { bytes in
                putQuoted(bytes)
                try sink.endRow()
            }
            sink.put("\"")
        }
        sink.put("\r\n")
    }

    private func putFields(_ fields: [JSONValue?]) {
        for (index, field) in fields.enumerated() {
            if index > 0 { sink.put(",") }
            putField(field)
        }
        sink.put("\r\n")
    }

    private func putField(_ field: JSONValue?) {
        switch field {
        case nil: break
        case .string(let text): put(text)
        case .real(let value): sink.put("\(value)")
        case .some(let other): put(other.text)
        }
    }

    /// Quoted if the text would be ambiguous. An empty text is quoted too, since null is written as nothing.
    private func put(_ text: String) {
        let isPlain = !text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        if isPlain && !text.isEmpty { return sink.put(text) }
        sink.put("\"")
        putQuoted(text.utf8)
        sink.put("\"")
    }

    /// Puts the text of a quoted field, with each quotation mark doubled.
    private func putQuoted(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if byte == 0x22 { sink.put(byte) }
            sink.put(byte)
        }
    }
}
