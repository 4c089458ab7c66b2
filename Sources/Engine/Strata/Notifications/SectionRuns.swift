/// The rows of some results whose sections are runs of adjacent rows: the order of the results keeps sections together.
/// From one version to the next, only what has changed is computed.
///
/// Complexity of a change of c rows: O(c sqrt(rows) + sections), with small constants.
struct SectionRuns<Key: Hashable> {
    typealias Run = (key: Key, count: Int)

    /// In the order of the results.
    private(set) var rows: KeySequence
    /// None is empty, and no two have the same key.
    private(set) var runs: [Run]

    /// Nil if rows of other sections lie between those of a section.
    init?(_ sectioned: SectionedRows<Key>) {
        guard let runs = sectioned.runs else { return nil }
        self.runs = runs
        rows = KeySequence(sectioned.rows)
    }

    /// The sections with their rows.
    /// - Complexity: O(rows).
    var frame: SectionUpdate<Key>.Frame {
        WorkSteps.note(rows.count)
        let all = rows.keys
        var start = 0
        return runs.map { run in
            defer { start += run.count }
            return (run.key, Array(all[start..<(start + run.count)]))
        }
    }

    /// A row and its place; for a new place with its section.
    private typealias Gone = (place: Int, row: Int64)
    private typealias Come = (place: Int, row: Int64, key: Key)

    /// Goes on to other rows.
    /// - Parameters:
    ///   - now: the other rows.
    ///   - changes: from the present rows to `now`.
    ///   - changed: places in `now` of rows whose section may differ.
    ///   - key: the section of a row; called once for each row that is new or may differ.
    /// - Returns: nil if the changes do not lead to `now`, or if sections are not runs any more. The rows are invalid
    ///   then.
    mutating func follow(
        to now: any KnownRows, _ changes: PlaceChanges, _ changed: [(place: Int, key: Int64)], _ key: (Int64) -> Key
    ) -> SectionUpdate<Key>? {
        let (before, after) = (PlacesLeft(without: changes.deletions), PlacesLeft(without: changes.insertions))
        let starts = RunStarts(runs.map(\.count))
        var gone: [Gone] = []
        var come: [Come] = []
        for place in changes.deletions {
            guard let row = rows.key(at: place) else { return nil }
            gone.append((place, row))
        }
        for place in changes.insertions {
            guard let row = now.key(at: place) else { return nil }
            WorkSteps.note(1)
            come.append((place, row, key(row)))
        }
        for (place, row) in changed where !after.leavesOut(place) {
            let old = before.place(ofRank: after.rank(of: place))
            guard rows.key(at: old) == row else { return nil }
            WorkSteps.note(1)
            let key = key(row)
            if runs[starts.run(of: old)].key == key { continue }
            // It leaves its section, wherever it is among the results.
            gone.append((old, row))
            come.append((place, row, key))
        }
        gone.sort { $0.place < $1.place }
        come.sort { $0.place < $1.place }
        guard let made = exchanged(gone, come, starts), rows.exchange(changes.deletions, for: changes.insertions, now),
            rows.count == now.count
        else { return nil }
        var comparison = RunComparison(runs, made, starts)
        runs = made
        comparison.compare(gone, come)
        for place in changes.modifications where !before.leavesOut(place) && !comparison.hasLeft(place) {
            comparison.modify(place, now: after.place(ofRank: before.rank(of: place)))
        }
        return comparison.update
    }

    /// The runs without the rows that go, and with those that come; nil if they are not runs any more.
    private func exchanged(_ gone: [Gone], _ come: [Come], _ starts: RunStarts) -> [Run]? {
        var left = runs.map(\.count)
        for (place, _) in gone where place < starts.end { left[starts.run(of: place)] -= 1 }
        var made: [Run] = []
        made.reserveCapacity(runs.count + 1)
        func put(_ key: Key, _ count: Int) {
            if let last = made.last, last.key == key {
                made[made.count - 1].count += count
            } else {
                made.append((key, count))
            }
        }
        var (run, kept) = (0, 0)
        // Moves rows that stay, up to a number of them.
        func keep(_ wanted: Int) {
            while kept < wanted, run < left.count {
                let count = min(left[run], wanted - kept)
                if count > 0 { put(runs[run].key, count) }
                left[run] -= count
                kept += count
                if left[run] == 0 { run += 1 }
            }
        }
        for (number, row) in come.enumerated() {
            keep(row.place - number)
            put(row.key, 1)
        }
        keep(starts.end)
        WorkSteps.note(made.count)
        return Set(made.lazy.map(\.key)).count == made.count ? made : nil
    }
}

/// Places without some of them, counted.
struct PlacesLeft {
    /// Ascending.
    private let out: [Int]

    init(without out: [Int]) { self.out = out }

    func leavesOut(_ place: Int) -> Bool {
        let number = before(place)
        return number < out.count && out[number] == place
    }

    /// Number of places that are left before one.
    func rank(of place: Int) -> Int { place - before(place) }

    /// The place that has as many before it that are left.
    func place(ofRank rank: Int) -> Int {
        var (low, high) = (0, out.count)
        while low < high {
            let middle = (low + high) / 2
            if out[middle] - middle <= rank { low = middle + 1 } else { high = middle }
        }
        return rank + low
    }

    private func before(_ place: Int) -> Int {
        var (low, high) = (0, out.count)
        while low < high {
            let middle = (low + high) / 2
            if out[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The first places of runs.
struct RunStarts {
    private var starts: [Int] = []
    private(set) var end = 0

    init(_ counts: [Int]) {
        starts.reserveCapacity(counts.count)
        for count in counts {
            starts.append(end)
            end += count
        }
    }

    subscript(run: Int) -> Int { starts[run] }

    /// The run of a place that exists.
    func run(of place: Int) -> Int {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= place { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }
}
