#if SQLite
    import StrataStorage

    /// Computes the canonical hashes of rows of the new file. Columns are found by name.
    struct FoundRows {
        private let columns: [ComparedColumn]
        /// Positions in the table, in the order of ``columns``.
        let positions: [Int]
        let versionPlace: Int
        private let entityPlace: Int?
        private let numbers: [[UInt8]: Int64]
        private let root: Int64

        /// - Throws: `wrongInput` if the file lacks a property, or has it with another type.
        init(
            _ table: TableDefinition, _ columns: [ComparedColumn], _ hierarchy: StoredHierarchy
        ) throws(CoreDataError) {
            self.columns = columns
            var positions: [Int] = []
            for column in columns {
                guard let place = table.columns.firstIndex(where: { $0.name == column.name }),
                    table.columns[place].type == column.type
                else {
                    throw CoreDataError(
                        .wrongInput,
                        "the file has no property \(table.name).\(column.name) of the store's type: verify with the "
                            + "model and the mapping of the import")
                }
                positions.append(place)
            }
            self.positions = positions
            versionPlace = columns.firstIndex { $0.rule == .version } ?? 0
            entityPlace = columns.firstIndex { $0.rule == .entity }
            numbers = Dictionary(
                hierarchy.entities.map { (Array($0.name.utf8), $0.number) }, uniquingKeysWith: { first, _ in first })
            root = hierarchy.root.number
        }

        /// The entity number of a row; -1 for a name that the store lacks.
        func entity(_ batch: RowBatch, _ row: Int) -> Int64 {
            entityPlace.map { numbers[Array(batch.bytes($0, row))] ?? -1 } ?? root
        }

        func hash(_ batch: RowBatch, _ row: Int) -> UInt64 {
            var hash = RowHash()
            for place in columns.indices {
                if batch.isNull(place, row) {
                    hash.addNull()
                    continue
                }
                switch columns[place].rule {
                case .integer, .version, .flag, .link: hash.add(integer: batch.integers(place)[row])
                case .number: hash.add(double: batch.doubles(place)[row])
                case .text, .uuid, .data, .entity: hash.add(bytes: batch.bytes(place, row))
                case .decimal:
                    if let number = CanonicalValues.Decimal(bytes: batch.bytes(place, row)) {
                        hash.add(number)
                    } else {
                        hash.add(kind: 0)
                    }
                case .any, .archive:
                    if let value = CanonicalValues.value(batch.bytes(place, row)) {
                        hash.add(value)
                    } else {
                        hash.add(kind: 0)
                    }
                }
            }
            return hash.value
        }
    }
#endif
