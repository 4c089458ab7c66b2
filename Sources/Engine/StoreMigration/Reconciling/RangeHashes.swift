/// Hashes of the records of one store: of each record, of ranges of them, and of all.
///
/// Records are ordered by a hash of their ids and divided into ranges of equal width. A range's sum adds the hashes of
/// its records; each inner sum adds its two children. A changed record changes O(log records) sums. A comparison of two
/// stores starts at the root and skips equal subtrees.
///
/// Invariants:
/// 1. The number of ranges, `sums.count / 2`, is a power of two. The sums of ranges are the second half of `sums`; the
/// parent of places 2n and 2n + 1 is at n.
/// 2. A range has at most one entry for an id.
struct RangeHashes {
    private struct Entry {
        var place: UInt64
        var model: Int
        var key: RecordKey
        var hash: UInt64
    }

    private var ranges: [[Entry]]
    private var sums: [UInt64]
    private let models: [String]
    private let seeds: [UInt64]
    private let positions: [String: Int]
    private(set) var count = 0
    private static let recordsPerRange = 12

    init(_ models: [String]) {
        self.models = models
        seeds = models.map { RecordHash.hash(Array($0.utf8)) }
        positions = Dictionary(models.enumerated().map { ($1, $0) }, uniquingKeysWith: { a, _ in a })
        ranges = Array(repeating: [], count: 64)
        sums = Array(repeating: 0, count: 128)
    }

    /// Sets the hash of a record; nil removes it.
    mutating func set(_ id: RecordID, to hash: UInt64?) {
        guard let model = positions[id.model] else { return }
        set(model: model, id.key, to: hash)
    }

    mutating func set(model: Int, _ key: RecordKey, to hash: UInt64?) {
        let place = RecordHash.place(seeds[model], key)
        let range = range(of: place)
        let found = ranges[range].firstIndex { $0.place == place && $0.model == model && $0.key == key }
        var change: UInt64 = 0
        if let found { change &-= Self.weight(place, ranges[range][found].hash) }
        if let hash { change &+= Self.weight(place, hash) }
        switch (found, hash) {
        case (let found?, let hash?): ranges[range][found].hash = hash
        case (let found?, nil):
            ranges[range].remove(at: found)
            count -= 1
        case (nil, let hash?):
            ranges[range].append(Entry(place: place, model: model, key: key, hash: hash))
            count += 1
        case (nil, nil): return
        }
        var node = ranges.count + range
        while node > 0 {
            sums[node] &+= change
            node /= 2
        }
        if count > ranges.count * Self.recordsPerRange { spread(to: ranges.count * 2) }
    }

    func hash(_ id: RecordID) -> UInt64? {
        guard let model = positions[id.model] else { return nil }
        let place = RecordHash.place(seeds[model], id.key)
        return ranges[range(of: place)].first { $0.place == place && $0.model == model && $0.key == id.key }?.hash
    }

    private func range(of place: UInt64) -> Int { Int(place >> (64 - UInt64(ranges.count.trailingZeroBitCount))) }

    /// The place of a record is hashed too, so that two records with swapped values differ.
    private static func weight(_ place: UInt64, _ hash: UInt64) -> UInt64 {
        RecordHash.mix(place ^ RecordHash.mix(hash))
    }

    private mutating func spread(to rangeCount: Int) {
        let all = ranges
        ranges = Array(repeating: [], count: rangeCount)
        sums = Array(repeating: 0, count: rangeCount * 2)
        for entry in all.joined() {
            let range = range(of: entry.place)
            ranges[range].append(entry)
            sums[rangeCount + range] &+= Self.weight(entry.place, entry.hash)
        }
        for node in stride(from: rangeCount - 1, to: 0, by: -1) { sums[node] = sums[2 * node] &+ sums[2 * node + 1] }
    }

    /// The ids of records that differ, or exist on one side only.
    /// - Complexity: O(differences × log records), once both have the same number of ranges.
    /// - Parameter steps: counts the sums and entries that were looked at.
    static func differences(_ a: inout RangeHashes, _ b: inout RangeHashes, steps: inout Int) -> [RecordID] {
        let most = max(a.ranges.count, b.ranges.count)
        if a.ranges.count < most { a.spread(to: most) }
        if b.ranges.count < most { b.spread(to: most) }
        var found: [RecordID] = []
        var pending = [1]
        #if Zoo
            // The start of the last differing range.
            var last = 0
        #endif
        while let node = pending.popLast() {
            steps += 1
            if a.sums[node] == b.sums[node] { continue }
            if node < most {
                pending += [2 * node, 2 * node + 1]
                continue
            }
            #if Zoo
                last = found.count
            #endif
            let (ours, theirs) = (a.ranges[node - most], b.ranges[node - most])
            steps += ours.count + theirs.count
            for entry in ours
            where !theirs.contains(where: {
                $0.model == entry.model && $0.key == entry.key && $0.hash == entry.hash
            }) {
                found.append(RecordID(a.models[entry.model], entry.key))
            }
            for entry in theirs where !ours.contains(where: { $0.model == entry.model && $0.key == entry.key }) {
                found.append(RecordID(a.models[entry.model], entry.key))
            }
        }
        #if Zoo
            if PlantedMistake.rangeSkipped.isMade { found.removeSubrange(last...) }
        #endif
        return found.sorted()
    }
}
