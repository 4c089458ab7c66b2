import StrataStorage

/// Keeps the first of the rows whose properties are equal.
///
/// Values of one type are equal as a query compares them; null is one value, and so is NaN. A row with a missing link
/// in the path has no value, and is left out.
struct RowDistinction {
    private let readers: [ColumnReader]

    /// Stops the program if a path does not suit the class.
    init(_ instance: RealmInstance, _ access: ClassAccess, _ keyPaths: [String]) {
        do throws(RealmError) {
            var readers: [ColumnReader] = []
            for keyPath in keyPaths {
                readers.append(try ColumnReader(instance, access, keyPath, to: "take distinct values of"))
            }
            self.readers = readers
        } catch {
            fatalError(error.description)
        }
    }

    /// - Complexity: O(n), and the reads.
    func kept(_ keys: [Int64], _ view: ReadView) throws(StorageError) -> [Int64] {
        guard !readers.isEmpty else { return keys }
        var keys = keys
        for reader in readers { keys = try reader.reaching(keys, view) }
        // Each property numbers its values, together with the number so far, in order of appearance.
        var groups = [Int](repeating: 0, count: keys.count)
        #if Zoo
            let compared = PlantedMistake.distinctByFirst.isPlanted ? Array(readers.prefix(1)) : readers
        #else
            let compared = readers
        #endif
        for reader in compared {
            var known: [Group: Int] = [:]
            var place = 0
            try reader.forEach(keys, view) { value in
                let group = Group(before: groups[place], value: DistinctValue(value.stored(reader.tag)))
                let number = known[group] ?? known.count
                known[group] = number
                groups[place] = number
                place += 1
            }
        }
        var seen = Set<Int>()
        return keys.indices.filter { seen.insert(groups[$0]).inserted }.map { keys[$0] }
    }

    /// ``kept(_:_:)`` in a damaged file: without the rows whose value is unreadable.
    /// - Parameter failed: called for each of these rows.
    func keptPastDamage(
        _ keys: [Int64], _ view: ReadView, _ failed: (StorageError, Int64) -> Void
    ) -> [Int64] {
        var seen: Set<[DistinctValue]> = []
        var kept: [Int64] = []
        for key in keys {
            do throws(StorageError) {
                var values: [DistinctValue] = []
                var isThere = true
                for reader in readers {
                    if try reader.reaching([key], view).isEmpty { isThere = false }
                    try reader.forEach([key], view, rowByRow: true) { value in
                        values.append(DistinctValue(value.stored(reader.tag)))
                    }
                }
                if isThere, readers.isEmpty || seen.insert(values).inserted { kept.append(key) }
            } catch {
                failed(error, key)
            }
        }
        return kept
    }

    private struct Group: Hashable {
        let before: Int
        let value: DistinctValue
    }
}
