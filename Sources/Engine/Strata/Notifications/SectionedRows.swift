/// The rows of some results with their sections. From one version to the next, only new and changed rows are evaluated.
struct SectionedRows<Key: Hashable> {
    /// In the order of the results.
    private(set) var rows: [Int64] = []
    /// Sections in the order of their first rows, with their rows in order.
    private(set) var frame: SectionUpdate<Key>.Frame = []
    /// The number of each row's section; -1 for a row whose key has to be evaluated.
    private var numbers: [Int] = []
    /// The key of each section number, and the number of each key.
    private var names: [Key] = []
    private var known: [Key: Int] = [:]

    init() {}

    /// - Complexity: a key for each row.
    init(_ rows: [Int64], _ key: (Int64) -> Key) {
        WorkSteps.note(rows.count)
        self.rows = rows
        numbers.reserveCapacity(rows.count)
        for row in rows { numbers.append(number(of: key(row))) }
        frame = makeFrame()
    }

    /// The sections of other rows; nil if the changes do not lead to them.
    /// - Parameters:
    ///   - changes: from the present rows to `rows`.
    ///   - changed: rows whose section may differ.
    /// - Complexity: a key for each row that is new or changed; besides, passes over integers.
    func followed(
        to rows: [Int64], _ changes: PlaceChanges, _ changed: Set<Int64>, _ key: (Int64) -> Key
    ) -> SectionedRows? {
        var made = self
        for place in changes.modifications where numbers.indices.contains(place) { made.numbers[place] = -1 }
        guard changes.insertions.allSatisfy({ rows.indices.contains($0) }),
            made.exchange(changes, for: changes.insertions.map { rows[$0] }), made.rows == rows
        else { return nil }
        var left = changed
        for (place, number) in made.numbers.enumerated() where number < 0 { left.remove(rows[place]) }
        if !left.isEmpty {
            for (place, row) in rows.enumerated() where left.contains(row) { made.numbers[place] = -1 }
        }
        for (place, number) in made.numbers.enumerated() where number < 0 {
            WorkSteps.note(1)
            made.numbers[place] = made.number(of: key(rows[place]))
        }
        made.frame = made.makeFrame()
        made.forgetEmpty()
        return made
    }

    /// Removes deleted rows, and inserts new ones without a section.
    /// - Returns: false if a place does not exist.
    private mutating func exchange(_ changes: PlaceChanges, for come: [Int64]) -> Bool {
        if changes.deletions.isEmpty && come.isEmpty { return true }
        let count = rows.count - changes.deletions.count + come.count
        guard count >= 0 else { return false }
        var (newRows, newNumbers): ([Int64], [Int]) = ([], [])
        newRows.reserveCapacity(count)
        newNumbers.reserveCapacity(count)
        var deletions = changes.deletions[...]
        var insertions = zip(changes.insertions, come).makeIterator()
        var next = insertions.next()
        func put(_ row: Int64, _ number: Int) {
            newRows.append(row)
            newNumbers.append(number)
        }
        for (place, row) in rows.enumerated() {
            if deletions.first == place {
                deletions.removeFirst()
                continue
            }
            while let (at, come) = next, at == newRows.count {
                put(come, -1)
                next = insertions.next()
            }
            put(row, numbers[place])
        }
        while let (at, come) = next, at == newRows.count {
            put(come, -1)
            next = insertions.next()
        }
        guard deletions.isEmpty, next == nil else { return false }
        (rows, numbers) = (newRows, newNumbers)
        return true
    }

    /// The sections with their numbers of rows; nil if rows of others lie between those of one.
    var runs: [(key: Key, count: Int)]? {
        var last: Int?
        var count = 0
        for number in numbers where number != last {
            count += 1
            last = number
        }
        return count == frame.count ? frame.map { ($0.key, $0.rows.count) } : nil
    }

    private mutating func number(of key: Key) -> Int {
        if let known = known[key] { return known }
        known[key] = names.count
        names.append(key)
        return names.count - 1
    }

    private func makeFrame() -> SectionUpdate<Key>.Frame {
        var frame: SectionUpdate<Key>.Frame = []
        var places = [Int](repeating: -1, count: names.count)
        for (row, number) in zip(rows, numbers) {
            if places[number] < 0 {
                places[number] = frame.count
                frame.append((names[number], []))
            }
            frame[places[number]].rows.append(row)
        }
        return frame
    }

    /// Drops keys without rows, which would otherwise accumulate.
    private mutating func forgetEmpty() {
        guard names.count > 2 * frame.count + 64 else { return }
        let before = names
        (names, known) = ([], [:])
        for section in frame { _ = number(of: section.key) }
        for (place, number) in numbers.enumerated() { numbers[place] = known[before[number]] ?? 0 }
    }
}
