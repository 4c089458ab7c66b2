#if SQLite
    import StrataStorage

    /// Reads rows of one hierarchy as cells of its class.
    final class RowSource {
        private let copy: SourceCopy
        private let file: SQLiteFile
        private let hierarchy: StoredHierarchy
        private let made: ClassLayout.Class
        private let keys: [KeySet]
        private let leavesBlobsOut: Bool
        private let leavesUnknownOut: Bool
        private let entityNames: [Int64: UnsafeMutableRawBufferPointer]
        /// Converted values, which SQLite does not hold; valid until the next row.
        private var madeBytes: [UnsafeMutableRawBufferPointer] = []
        private let columns: String
        private enum Step { case key, entity, version, integer, double, text, other, link(Int) }
        private let steps: [Step]
        private(set) var key: Int64 = 0
        private(set) var entity: Int64 = 0
        var findings = ImportFindings()
        let cells: UnsafeMutableBufferPointer<Cell>
        /// The column with the target's entity number, by link.
        private var twinPlaces: [Int: Int] = [:]
        private let twins: [Int: EntityLookup]

        init(
            _ copy: SourceCopy, _ file: SQLiteFile, layout: ClassLayout, index: Int, keys: [KeySet],
            twins: [Int: EntityLookup], mapping: CoreDataMapping
        ) {
            self.copy = copy
            self.file = file
            self.keys = keys
            self.twins = twins
            hierarchy = layout.layout.hierarchies[index]
            made = layout.classes[index]
            leavesBlobsOut = mapping.leavesBlobsOut
            leavesUnknownOut = mapping.leavesUnknownOut
            var names: [Int64: UnsafeMutableRawBufferPointer] = [:]
            for entity in hierarchy.entities {
                let name = Array(entity.name.utf8)
                let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: name.count, alignment: 8)
                bytes.copyBytes(from: name)
                names[entity.number] = bytes
            }
            entityNames = names
            cells = .allocate(capacity: made.columns.count)
            cells.initialize(repeating: .bytes(UnsafeRawBufferPointer(start: nil, count: 0)))
            var selected = ["Z_PK", "Z_ENT", "Z_OPT"]
            for source in made.sources.prefix(made.singleCount) {
                switch source {
                case .attribute(let attribute): selected.append(quoted(attribute.column))
                case .link(let link): selected.append(quoted(link.column))
                default: selected.append("NULL")
                }
            }
            for (place, source) in made.sources.enumerated() {
                if case .link(let link) = source, let twin = link.entityColumn {
                    twinPlaces[place] = selected.count
                    selected.append(quoted(twin))
                }
            }
            columns = selected.joined(separator: ", ")
            steps = made.sources.prefix(made.singleCount).map { source in
                switch source {
                case .key: .key
                case .entity: .entity
                case .version: .version
                case .link(let link): .link(link.target)
                case .attribute(let attribute):
                    switch attribute.attribute.type {
                    case .integer16, .integer32, .integer64: .integer
                    case .double, .float, .date: .double
                    case .string, .uri, .objectID: .text
                    default: .other
                    }
                case .join, .order: .other
                }
            }
        }

        deinit {
            clear()
            for bytes in entityNames.values { bytes.deallocate() }
            cells.deallocate()
        }

        /// The rows after a key, ascending; without a key all rows.
        func statement(after key: Int64? = nil) throws(CoreDataError) -> SQLiteStatement {
            let condition = key.map { " WHERE Z_PK > \($0)" } ?? ""
            return try file.statement("SELECT \(columns) FROM \(quoted(hierarchy.table))\(condition) ORDER BY Z_PK")
        }

        /// The row whose key is bound to the statement.
        func single() throws(CoreDataError) -> SQLiteStatement {
            try file.statement("SELECT \(columns) FROM \(quoted(hierarchy.table)) WHERE Z_PK = ?")
        }

        private func clear() {
            for bytes in madeBytes { bytes.deallocate() }
            madeBytes.removeAll(keepingCapacity: true)
        }

        private func keep(_ bytes: [UInt8]) -> Cell {
            if bytes.isEmpty { return .bytes(UnsafeRawBufferPointer(start: nil, count: 0)) }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
            buffer.copyBytes(from: bytes)
            madeBytes.append(buffer)
            return .bytes(UnsafeRawBufferPointer(buffer))
        }

        /// Fills ``cells`` from the current row of a statement.
        /// - Returns: false for a row that is left out, with a finding.
        /// - Throws: `unknownShape`, `unfitValue`.
        func read(_ row: SQLiteStatement) throws(CoreDataError) -> Bool {
            if !madeBytes.isEmpty { clear() }
            key = row.integer(0)
            entity = row.integer(1)
            guard let entityName = entityNames[entity] else {
                guard leavesUnknownOut else {
                    throw CoreDataError(
                        .unknownShape,
                        "\(hierarchy.table), Z_PK \(key): Z_ENT \(entity) is no entity of this table. To leave such "
                            + "rows out, say  unknownEntities: \"leaveOut\"  in a mapping")
                }
                findings.add(.unknownEntity, "\(hierarchy.table) \(key), Z_ENT \(entity)")
                return false
            }
            for place in steps.indices { try fill(place, row, entityName) }
            return true
        }

        /// Fills one cell. For the most frequent kinds of values the attribute is not looked at.
        @inline(__always)
        private func fill(
            _ place: Int, _ row: SQLiteStatement, _ entityName: UnsafeMutableRawBufferPointer
        ) throws(CoreDataError) {
            let column = place + 3
            switch steps[place] {
            case .integer where row.kind(column) == .integer: cells[place] = .integer(row.integer(column))
            case .double where row.kind(column) == .real: cells[place] = .double(row.double(column))
            case .text where row.kind(column) == .text:
                let bytes = row.bytes(column, isText: true)
                guard Self.isText(bytes) else { return cells[place] = try value(row, place) }
                cells[place] = .bytes(bytes)
            case .key: cells[place] = .integer(key)
            case .entity: cells[place] = .bytes(UnsafeRawBufferPointer(entityName))
            case .version: cells[place] = .integer(row.isNull(2) ? 0 : row.integer(2))
            case .link(let target):
                if row.kind(column) == .null { return cells[place] = .null }
                let key = row.integer(column)
                if row.kind(column) == .integer, twinPlaces.isEmpty, keys[target].contains(key) {
                    cells[place] = .integer(key)
                } else if case .link(let link) = made.sources[place] {
                    cells[place] = try self.link(row, place, link)
                }
            default: cells[place] = try value(row, place)
            }
        }

        private func value(_ row: SQLiteStatement, _ place: Int) throws(CoreDataError) -> Cell {
            guard case .attribute(let attribute) = made.sources[place] else { return .null }
            return try value(row, place + 3, attribute)
        }

        // MARK: Links

        private func link(_ row: SQLiteStatement, _ place: Int, _ link: StoredLink) throws(CoreDataError) -> Cell {
            switch row.kind(place + 3) {
            case .null: return .null
            case .integer: break
            default: throw unfit(row, place + 3, name: link.column, wanted: "a key")
            }
            let target = row.integer(place + 3)
            guard keys[link.target].contains(target) else {
                findings.add(.danglingLink, "\(made.name) \(key), \(link.name) to \(target)")
                return .null
            }
            if let twin = twinPlaces[place], let lookup = twins[link.target] {
                let number = row.integer(twin)
                if row.isNull(twin) || lookup.entity(of: target) != number {
                    findings.add(.wrongEntity, "\(made.name) \(key), \(link.name) to \(target) of entity \(number)")
                }
            }
            return .integer(target)
        }

        // MARK: Values

        private func unfit(
            _ row: SQLiteStatement, _ column: Int, name: String, wanted: String
        ) -> CoreDataError {
            CoreDataError(
                .unfitValue,
                "\(hierarchy.table).\(name), Z_PK \(key): \(row.kind(column)) stands where \(wanted) belongs. "
                    + "Correct it, or give the attribute the type \"any\" in a mapping")
        }

        private func value(
            _ row: SQLiteStatement, _ column: Int, _ attribute: StoredAttribute
        ) throws(CoreDataError) -> Cell {
            let kind = row.kind(column)
            if kind == .null {
                #if Zoo
                    let types: [CoreDataType] = [.integer16, .integer32, .integer64]
                    if PlantedMistake.importedNullIsZero.isPlanted, types.contains(attribute.attribute.type) {
                        return .integer(0)
                    }
                #endif
                let isAny = attribute.attribute.type == .any || attribute.attribute.isDecoded
                return isAny ? keep([]) : .null
            }
            switch attribute.attribute.type {
            case .integer16, .integer32, .integer64:
                guard kind == .integer else { throw unfit(row, column, name: attribute.column, wanted: "an integer") }
                return .integer(row.integer(column))
            case .boolean:
                guard kind == .integer else { throw unfit(row, column, name: attribute.column, wanted: "0 or 1") }
                return .integer(row.integer(column) == 0 ? 0 : 1)
            case .double, .float, .date:
                guard kind == .real || kind == .integer else {
                    throw unfit(row, column, name: attribute.column, wanted: "a number")
                }
                return .double(row.double(column))
            case .string, .uri, .objectID:
                guard kind == .text else { throw unfit(row, column, name: attribute.column, wanted: "text") }
                let bytes = row.bytes(column, isText: true)
                guard Self.isText(bytes) else {
                    throw unfit(row, column, name: attribute.column, wanted: "text of UTF-8")
                }
                return .bytes(bytes)
            case .uuid:
                let bytes = row.bytes(column, isText: false)
                guard kind == .data, bytes.count == 16 else {
                    throw unfit(row, column, name: attribute.column, wanted: "a UUID of 16 bytes")
                }
                return .bytes(bytes)
            case .decimal: return try decimal(row, column, attribute)
            case .data, .transformable:
                guard kind == .data || kind == .text else {
                    throw unfit(row, column, name: attribute.column, wanted: "data")
                }
                return try data(row, column, attribute)
            case .any: return any(row, column)
            }
        }

        /// Whether the bytes are valid UTF-8. ASCII is tested eight bytes at a time; the standard library validates
        /// other text.
        private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
            var place = 0
            while bytes.count - place >= 8 {
                if bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { break }
                place += 8
            }
            while place < bytes.count, bytes[place] < 0x80 { place += 1 }
            return place == bytes.count || String(validating: bytes, as: UTF8.self) != nil
        }

        private func decimal(
            _ row: SQLiteStatement, _ column: Int, _ attribute: StoredAttribute
        ) throws(CoreDataError) -> Cell {
            let bytes =
                switch row.kind(column) {
                case .integer: DecimalBytes.bytes(String(row.integer(column)))
                case .real: DecimalBytes.bytes(row.double(column))
                default: DecimalBytes.bytes(row.text(column))
                }
            guard let bytes else {
                throw unfit(row, column, name: attribute.column, wanted: "a decimal of at most 34 digits")
            }
            return keep(bytes)
        }

        private func any(_ row: SQLiteStatement, _ column: Int) -> Cell {
            switch row.kind(column) {
            case .null: keep([])
            case .integer: keep(AnyBytes.bytes(.integer(row.integer(column))))
            case .real: keep(AnyBytes.bytes(.real(row.double(column))))
            case .text:
                Self.isText(row.bytes(column, isText: true))
                    ? keep(AnyBytes.bytes(.string(row.text(column)))) : keep(AnyBytes.bytes(.data(row.data(column))))
            case .data: keep(AnyBytes.bytes(.data(row.data(column))))
            }
        }

        private func data(
            _ row: SQLiteStatement, _ column: Int, _ attribute: StoredAttribute
        ) throws(CoreDataError) -> Cell {
            var bytes = row.bytes(column, isText: false)
            var made: [UInt8]?
            if attribute.isExternal, let first = bytes.first {
                if first == 1 {
                    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
                } else if first == 2, bytes.count == 38 {
                    let name = String(decoding: bytes[1..<37], as: UTF8.self)
                    guard let found = try external(name, attribute) else { return .null }
                    made = found
                } else {
                    throw unfit(row, column, name: attribute.column, wanted: "a blob that begins with 1 or 2")
                }
            }
            if attribute.attribute.isDecoded {
                let whole = made ?? Array(bytes)
                if let plain = KeyedArchive(whole)?.plain() { return keep(AnyBytes.bytes(plain)) }
                findings.add(.undecoded, "\(self.made.name) \(key), \(attribute.name)")
                return keep(AnyBytes.bytes(.data(whole)))
            }
            return made.map(keep) ?? .bytes(bytes)
        }

        private func external(_ name: String, _ attribute: StoredAttribute) throws(CoreDataError) -> [UInt8]? {
            // The name must be a UUID, not a path, so that it stays in its folder.
            guard name.utf8.allSatisfy({ $0 == 45 || ($0 >= 48 && $0 <= 57) || ($0 | 32 >= 97 && $0 | 32 <= 102) })
            else {
                throw CoreDataError(
                    .unfitValue, "\(hierarchy.table).\(attribute.column), Z_PK \(key): the blob's name is no UUID")
            }
            do throws(CoreDataError) {
                return try ModelSources.bytes(copy.externalFolder + "/" + name, limit: 1 << 31)
            } catch {
                guard leavesBlobsOut else {
                    throw CoreDataError(
                        .unfitValue,
                        "\(made.name) \(key), \(attribute.name): its blob \(copy.externalFolder)/\(name) cannot be "
                            + "read. Put the file back, or say  missingBlobs: \"leaveOut\"  in a mapping")
                }
                findings.add(.missingBlob, "\(made.name) \(key), \(attribute.name): \(name)")
                return nil
            }
        }
    }

    /// The entity of each row of a hierarchy that is the target of polymorphic links.
    final class EntityLookup {
        private var entities: [Int64: Int64] = [:]

        init(_ file: SQLiteFile, _ hierarchy: StoredHierarchy) throws(CoreDataError) {
            let rows = try file.statement("SELECT Z_PK, Z_ENT FROM \(quoted(hierarchy.table))")
            while try rows.step() { entities[rows.integer(0)] = rows.integer(1) }
        }

        func entity(of key: Int64) -> Int64? { entities[key] }
    }
#endif
