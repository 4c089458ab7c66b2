#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Makes the update from some runs of rows to others, of rows that have gone, come or changed.
struct RunComparison<Key: Hashable> {
    private let before: [Key]
    private let after: [Key]
    private let starts: RunStarts
    private let newStarts: RunStarts
    private let newCounts: [Int]
    /// By section before, the section after; nil for one that is deleted. The other way round in `earlier`.
    private var later: [Int?]
    private var earlier: [Int?]
    /// Places before the change of rows that are no longer where they were.
    private var left: Set<Int> = []
    private var deletions: [IndexPath] = []
    private var insertions: [IndexPath] = []
    private var modifications: [IndexPath] = []

    init(_ runs: [SectionRuns<Key>.Run], _ newRuns: [SectionRuns<Key>.Run], _ starts: RunStarts) {
        before = runs.map(\.key)
        after = newRuns.map(\.key)
        newCounts = newRuns.map(\.count)
        self.starts = starts
        newStarts = RunStarts(newCounts)
        later = Array(repeating: nil, count: before.count)
        earlier = Array(repeating: nil, count: after.count)
        if before == after {
            for section in before.indices { (later[section], earlier[section]) = (section, section) }
        } else {
            for (old, new) in SequenceDifference(from: before, to: after).kept {
                (later[old], earlier[new]) = (new, old)
            }
        }
    }

    /// Whether a row left its place before the change.
    func hasLeft(_ place: Int) -> Bool { left.contains(place) }

    /// Lists rows that have gone and come; both ascend by their places.
    mutating func compare(_ gone: [(place: Int, row: Int64)], _ come: [(place: Int, row: Int64, key: Key)]) {
        left = Set(gone.lazy.map(\.place))
        /// Places of rows that came to a section which is not new, with the number of others before them that did not.
        var found: [Int64: (section: Int, place: Int, gap: Int)] = [:]
        var (section, number) = (-1, 0)
        for (place, row, _) in come {
            let new = newStarts.run(of: place)
            if new != section { (section, number) = (new, 0) }
            if earlier[new] != nil {
                let within = place - newStarts[new]
                found[row] = (new, within, within - number)
            }
            number += 1
        }
        (section, number) = (-1, 0)
        for (place, row) in gone {
            let old = starts.run(of: place)
            if old != section { (section, number) = (old, 0) }
            defer { number += 1 }
            guard later[old] != nil else { continue }
            let within = place - starts[old]
            let path = IndexPath(indexes: [old, within])
            if let now = found[row], (later[old], now.section) == (old, old), now.place == within,
                now.gap == within - number
            {
                // It moved within the results, and is at the same place of its section.
                modifications.append(path)
                found[row] = nil
            } else {
                deletions.append(path)
            }
        }
        insertions += found.values.map { IndexPath(indexes: [$0.section, $0.place]) }
        for section in after.indices where earlier[section] == nil {
            insertions += (0..<newCounts[section]).map { IndexPath(indexes: [section, $0]) }
        }
    }

    /// Lists a row that stays in its section.
    mutating func modify(_ place: Int, now: Int) {
        guard place < starts.end, now < newStarts.end else { return }
        let old = starts.run(of: place)
        guard let new = later[old] else { return }
        let paths = (
            IndexPath(indexes: [old, place - starts[old]]), IndexPath(indexes: [new, now - newStarts[new]])
        )
        if paths.0 == paths.1 {
            modifications.append(paths.0)
        } else {
            deletions.append(paths.0)
            insertions.append(paths.1)
        }
    }

    var update: SectionUpdate<Key> {
        SectionUpdate(
            before, after, deletions: deletions, insertions: insertions, modifications: modifications,
            came: after.indices.filter { earlier[$0] == nil }, went: before.indices.filter { later[$0] == nil })
    }
}
