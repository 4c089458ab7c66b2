#if SQLite
    /// Reads the rows of a hierarchy from the store, in the order of their keys, and gives each its canonical hash.
    ///
    /// It shares no conversion with ``RowSource``, so that a wrong conversion of the import shows as a difference.
    final class StoredRows {
        private let hierarchy: StoredHierarchy
        private let columns: [ComparedColumn]
        private let keys: [KeyIndex]
        private let names: [Int64: [UInt8]]
        private let externalFolder: String
        private let mapping: CoreDataMapping
        private let rows: SQLiteStatement
        private(set) var key: Int64 = 0
        private(set) var entity: Int64 = 0
        private(set) var findings = ImportFindings()

        init(
            _ file: SQLiteFile, _ hierarchy: StoredHierarchy, columns: [ComparedColumn], keys: [KeyIndex],
            externalFolder: String, mapping: CoreDataMapping
        ) throws(CoreDataError) {
            self.hierarchy = hierarchy
            self.columns = columns
            self.keys = keys
            self.externalFolder = externalFolder
            self.mapping = mapping
            names = Dictionary(
                hierarchy.entities.map { ($0.number, Array($0.name.utf8)) }, uniquingKeysWith: { first, _ in first })
            let selected = ["Z_PK", "Z_ENT"] + columns.map { quoted($0.column) }
            rows = try file.statement(
                "SELECT \(selected.joined(separator: ", ")) FROM \(quoted(hierarchy.table)) ORDER BY Z_PK")
        }

        /// Advances to the next row that is compared: ``key`` and ``entity`` are its own then.
        /// - Returns: its hash, or nil after the last.
        func next() throws(CoreDataError) -> UInt64? {
            while try rows.step() {
                key = rows.integer(0)
                entity = rows.integer(1)
                guard names[entity] != nil else {
                    guard mapping.leavesUnknownOut else {
                        throw CoreDataError(
                            .unknownShape,
                            "\(hierarchy.table), Z_PK \(key): Z_ENT \(entity) is no entity of this table")
                    }
                    continue
                }
                var hash = RowHash()
                for place in columns.indices { try add(place, to: &hash) }
                return hash.value
            }
            return nil
        }

        private func add(_ place: Int, to hash: inout RowHash) throws(CoreDataError) {
            let column = place + 2
            let kind = rows.kind(column)
            let rule = columns[place].rule
            guard kind != .null || rule == .version else { return hash.addNull() }
            switch rule {
            case .version: hash.add(integer: rows.integer(column))
            case .integer where kind == .integer: hash.add(integer: rows.integer(column))
            case .flag where kind == .integer: hash.add(integer: rows.integer(column) != 0 ? 1 : 0)
            case .number where kind == .integer: hash.add(double: Double(rows.integer(column)))
            case .number where kind == .real: hash.add(double: rows.double(column))
            case .text where kind == .text: hash.add(bytes: rows.bytes(column, isText: true))
            case .uuid where kind == .data: hash.add(bytes: rows.bytes(column, isText: false))
            case .entity: (names[entity] ?? []).withUnsafeBytes { hash.add(bytes: $0) }
            case .link(let target) where kind == .integer: addLink(place, target, to: &hash)
            case .integer, .flag, .number, .text, .uuid, .link:
                // A value that this type cannot hold equals no value of the file.
                hash.add(kind: 9)
            case .decimal: try addDecimal(place, kind, to: &hash)
            case .any: addAny(column, kind, to: &hash)
            case .data(let isExternal): try addData(place, isExternal, to: &hash)
            case .archive(let isExternal):
                guard let bytes = try data(place, isExternal) else { return hash.addNull() }
                hash.add(KeyedArchive(bytes)?.plain() ?? .data(bytes))
            }
        }

        private func addLink(_ place: Int, _ target: Int, to hash: inout RowHash) {
            let key = rows.integer(place + 2)
            if keys[target].contains(key) { return hash.add(integer: key) }
            findings.add(.danglingLink, "\(hierarchy.root.name) \(self.key), \(columns[place].name) to \(key)")
            hash.addNull()
        }

        private func failure(_ place: Int, _ words: String) -> CoreDataError {
            CoreDataError(
                .unfitValue, "\(hierarchy.table).\(columns[place].column), Z_PK \(key): \(words)")
        }

        private func addDecimal(
            _ place: Int, _ kind: SQLiteKind, to hash: inout RowHash
        ) throws(CoreDataError) {
            let text =
                switch kind {
                case .integer: String(rows.integer(place + 2))
                case .real: rows.double(place + 2).description
                default: rows.text(place + 2)
                }
            guard let number = CanonicalValues.Decimal(text: text) else {
                throw failure(place, "\(text.prefix(40)) is no decimal number")
            }
            hash.add(number)
        }

        private func addAny(_ column: Int, _ kind: SQLiteKind, to hash: inout RowHash) {
            switch kind {
            case .null: hash.addNull()
            case .integer: hash.add(.integer(rows.integer(column)))
            case .real: hash.add(.real(rows.double(column)))
            case .data: hash.add(.data(rows.data(column)))
            case .text:
                let bytes = Array(rows.bytes(column, isText: true))
                hash.add(String(validating: bytes, as: UTF8.self).map { .string($0) } ?? .data(bytes))
            }
        }

        private func addData(_ place: Int, _ isExternal: Bool, to hash: inout RowHash) throws(CoreDataError) {
            guard isExternal else { return hash.add(bytes: rows.bytes(place + 2, isText: false)) }
            guard let bytes = try data(place, true) else { return hash.addNull() }
            bytes.withUnsafeBytes { hash.add(bytes: $0) }
        }

        /// The bytes of a value; nil for an external file that is left out.
        private func data(_ place: Int, _ isExternal: Bool) throws(CoreDataError) -> [UInt8]? {
            var bytes = rows.data(place + 2)
            guard isExternal, let mark = bytes.first else { return bytes }
            bytes.removeFirst()
            if mark == 1 { return bytes }
            guard mark == 2 else { throw failure(place, "a blob begins with \(mark), and not with 1 or 2") }
            if bytes.last == 0 { bytes.removeLast() }
            let name = String(decoding: bytes, as: UTF8.self)
            do throws(CoreDataError) {
                guard !name.contains("/"), !name.hasPrefix(".") else { throw failure(place, "\(name) is no name") }
                return try ModelSources.bytes(externalFolder + "/" + name, limit: 1 << 31)
            } catch {
                guard mapping.leavesBlobsOut else {
                    throw failure(place, "its blob \(externalFolder)/\(name) cannot be read")
                }
                findings.add(.missingBlob, "\(hierarchy.root.name) \(key), \(columns[place].name): \(name)")
                return nil
            }
        }
    }
#endif
