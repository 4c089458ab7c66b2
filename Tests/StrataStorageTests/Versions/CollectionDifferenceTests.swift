import StrataFiles
import Testing

@testable import StrataStorage

/// The difference of a collection between two versions, as places.
@Suite struct CollectionDifferenceTests {
    private let disk = FileImages.Disk()

    private func open(_ disk: FileImages.Disk, usualLimits: Bool = false) throws -> Store {
        var options = FileImages.options(on: disk)
        options.logHalfBytes = 4 << 20
        options.mapReserve = 1 << 28
        if usualLimits { options.limits = StoreLimits() }
        return try Store.open(path: FileImages.path, options: options)
    }

    private func commit(
        _ store: Store, _ history: inout CollectionHistory, steps: Int,
        _ step: (inout CollectionHistory, WriteTransaction) throws -> Void = CollectionTrialTests.mixed
    ) throws {
        let transaction = try store.beginWrite()
        if transaction.view.schema.tables.isEmpty { try transaction.apply(schema: CollectionHistory.schema) }
        for _ in 0..<steps { try step(&history, transaction) }
        try transaction.commit()
    }

    private static func difference(
        _ old: ReadView, _ new: ReadView, _ key: Int64, _ column: Int
    ) throws -> CollectionDifference {
        try CollectionDifference(
            from: CollectionReader(old, table: CollectionHistory.owners, key: RowKey(key), column: column),
            to: CollectionReader(new, table: CollectionHistory.owners, key: RowKey(key), column: column))
    }

    /// Checks that a difference transforms one array into the other, and maps each unchanged element.
    private static func check(
        _ difference: CollectionDifference, _ old: [CollectionPair], _ new: [CollectionPair], _ note: Comment,
        _ location: SourceLocation = #_sourceLocation
    ) {
        guard let made = applied(difference, to: old, new: new) else {
            Issue.record("places that are none, \(note)", sourceLocation: location)
            return
        }
        #expect(made == new, note, sourceLocation: location)
        for ranges in [difference.deletions, difference.insertions] {
            let areApart = zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
            #expect(areApart, note, sourceLocation: location)
        }
        var isKept = [Bool](repeating: true, count: new.count)
        for range in difference.insertions { for place in range { isKept[place] = false } }
        let modified = Set(difference.modifications.map(\.old))
        var strays: [Int] = []
        for place in old.indices {
            guard let moved = difference.newPlace(of: place) else { continue }
            let isSame = new.indices.contains(moved) && (new[moved] == old[place] || modified.contains(place))
            guard isSame, isKept[moved] else {
                strays.append(place)
                continue
            }
            isKept[moved] = false
        }
        #expect(strays.isEmpty, note, sourceLocation: location)
        #expect(!isKept.contains(true), note, sourceLocation: location)
    }

    /// Applies a difference to the old array in one pass; nil if its places are out of range.
    private static func applied(
        _ difference: CollectionDifference, to old: [CollectionPair], new: [CollectionPair]
    ) -> [CollectionPair]? {
        var isDeleted = [Bool](repeating: false, count: old.count)
        for range in difference.deletions {
            guard range.lowerBound >= 0, range.upperBound <= old.count, !range.isEmpty else { return nil }
            for place in range { isDeleted[place] = true }
        }
        let kept = old.indices.lazy.filter { !isDeleted[$0] }.map { old[$0] }
        var rest = kept.makeIterator()
        var made: [CollectionPair] = []
        for range in difference.insertions {
            guard range.lowerBound >= 0, range.upperBound <= new.count, !range.isEmpty else { return nil }
            while made.count < range.lowerBound {
                guard let pair = rest.next() else { return nil }
                made.append(pair)
            }
            made.append(contentsOf: new[range])
        }
        while let pair = rest.next() { made.append(pair) }
        for pair in difference.modifications {
            guard old.indices.contains(pair.old), new.indices.contains(pair.new), made.indices.contains(pair.new),
                old[pair.old].key == new[pair.new].key, old[pair.old].value != new[pair.new].value
            else { return nil }
            made[pair.new].value = new[pair.new].value
        }
        return made
    }

    private static func places(_ ranges: [Range<Int>]) -> [Int] { ranges.flatMap { Array($0) } }

    /// For sets and maps only one answer is right.
    private static func checkExact(
        _ difference: CollectionDifference, _ old: [CollectionPair], _ new: [CollectionPair], _ column: Int,
        _ note: Comment
    ) {
        guard let collection = CollectionHistory.collection(column), collection.isKeyed || collection.isSorted else {
            return
        }
        func ordered(_ pair: CollectionPair) -> CollectionValue { collection.isKeyed ? pair.key : pair.value }
        let (before, after) = (Set(old.map(ordered)), Set(new.map(ordered)))
        #expect(places(difference.deletions) == old.indices.filter { !after.contains(ordered(old[$0])) }, note)
        #expect(places(difference.insertions) == new.indices.filter { !before.contains(ordered(new[$0])) }, note)
        var changed: [Int] = []
        if collection.isKeyed {
            let held = Dictionary(old.map { ($0.key, $0.value) }) { first, _ in first }
            changed = new.indices.filter { place in held[new[place].key].map { $0 != new[place].value } ?? false }
        }
        #expect(difference.modifications.map(\.new) == changed, note)
    }

    // MARK: Histories

    @Test(
        "a difference applied to one version's collection gives the other's, in both directions",
        arguments: TestSettings.seeds(2, of: 6), [false, true])
    func histories(seed: UInt64, usualLimits: Bool) throws {
        let store = try open(disk, usualLimits: usualLimits)
        var history = CollectionHistory(seed: seed)
        history.longest = usualLimits ? 3000 : 150
        var versions: [(snapshot: Snapshot, model: CollectionHistory.Model)] = []
        for round in 0..<14 {
            try commit(store, &history, steps: round == 0 ? 30 : 8)
            versions.append((try store.snapshot(), history.model))
        }
        var compared = 0
        for _ in 0..<30 {
            let (a, b) = (
                versions[Int(history.random.below(14))], versions[Int(history.random.below(14))]
            )
            for (key, before) in a.model.rows {
                guard let after = b.model.rows[key] else { continue }
                for column in CollectionHistory.columns {
                    let found = try Self.difference(a.snapshot.view, b.snapshot.view, key, column)
                    let note: Comment = "seed \(seed), row \(key), column \(column)"
                    Self.check(found, before[column], after[column], note)
                    Self.checkExact(found, before[column], after[column], column, note)
                    #expect(found.isEmpty == (before[column] == after[column]), note)
                    compared += 1
                }
            }
        }
        #expect(compared > 500)
        versions = []
        try store.close()
    }

    @Test(
        "elements moved by a compaction, or rewritten by a replay, are no change",
        arguments: TestSettings.seeds(2, of: 8))
    func movedAndRepeated(seed: UInt64) throws {
        let store = try open(disk)
        var history = CollectionHistory(seed: seed)
        history.longest = 150
        for _ in 0..<6 { try commit(store, &history, steps: 10) }
        let keys = history.model.rows.keys.sorted()
        try commit(store, &history, steps: 1) { history, transaction in
            for key in keys.prefix(keys.count / 3) {
                try transaction.delete(CollectionHistory.owners, RowKey(key))
                history.model.rows[key] = nil
            }
        }
        let old = try store.snapshot()
        let model = history.model
        func compare(_ view: ReadView, _ note: Comment) throws {
            for (key, before) in model.rows {
                guard let after = history.model.rows[key] else { continue }
                for column in CollectionHistory.columns {
                    let found = try Self.difference(old.view, view, key, column)
                    Self.check(found, before[column], after[column], note)
                    Self.checkExact(found, before[column], after[column], column, note)
                    #expect(found.isEmpty == (before[column] == after[column]), note)
                }
            }
        }
        let counts = store.allocator.counts
        _ = try CollectionStoreTests.compact(store, below: counts.pages - counts.free / 2, pages: 8) {
            try compare(store.snapshot().view, "compaction, seed \(seed)")
        }
        for _ in 0..<3 { try commit(store, &history, steps: 4) }
        try compare(store.snapshot().view, "commits, seed \(seed)")
        // After a crash a replay rebuilds the versions on other pages.
        let dead = try open(try disk.copied())
        try compare(dead.snapshot().view, "replay, seed \(seed)")
        for _ in 0..<3 { try commit(dead, &history, steps: 4) }
        try compare(dead.snapshot().view, "commits after a replay, seed \(seed)")
        try dead.close()
        try store.close()
    }

    // MARK: Size and cost

    @Test("with separate changes it names exactly the changed elements", arguments: [1, 2, 3])
    func asSmallAsTheEdits(seed: UInt64) throws {
        let store = try open(disk, usualLimits: true)
        var history = CollectionHistory(seed: seed)
        let column = 1
        // Each element occurs once.
        var next: Int64 = 100_000
        func fresh(_ count: Int) -> [CollectionPair] {
            (0..<count).map { _ in
                next += 1
                return CollectionPair(value: .integer(next))
            }
        }
        let start = fresh(30_000)
        try commit(store, &history, steps: 1) { history, transaction in
            try history.insertRow(transaction, 1)
            try history.set(transaction, 1, column, start)
        }
        for edits in [1, 3, 30] {
            let old = try store.snapshot()
            let before = try #require(history.model.rows[1]?[column])
            var expected = (gone: 0, come: 0)
            try commit(store, &history, steps: 1) { history, transaction in
                // From the back, so that later edits keep their places.
                for edit in (0..<edits).reversed() {
                    let place =
                        edit * (before.count / edits) + Int(history.random.below(UInt64(before.count / edits - 90)))
                    switch history.random.below(4) {
                    case 0:
                        let count = 1 + Int(history.random.below(20))
                        try history.remove(transaction, 1, column, place..<(place + count))
                        expected.gone += count
                    case 1:
                        try history.remove(transaction, 1, column, place..<(place + 2))
                        try history.insert(transaction, 1, column, fresh(3), at: place)
                        expected.gone += 2
                        expected.come += 3
                    default:
                        let count = 1 + Int(history.random.below(60))
                        try history.insert(transaction, 1, column, fresh(count), at: place)
                        expected.come += count
                    }
                }
            }
            let new = try store.snapshot()
            let after = try #require(history.model.rows[1]?[column])
            let found = try Self.difference(old.view, new.view, 1, column)
            let note: Comment = "seed \(seed), \(edits) edits"
            Self.check(found, before, after, note)
            #expect(Self.places(found.deletions).count == expected.gone, note)
            #expect(Self.places(found.insertions).count == expected.come, note)
            // Only changed nodes are read: a few leaves for each edit, of a thousand elements at most.
            let readers = try [old, new].map { try CollectionReader($0.view, table: 0, key: RowKey(1), column: column) }
            let runs = try SharedRuns(readers[0], readers[1]).runs
            let read = before.count - runs.reduce(0) { $0 + $1.count }
            #expect(read <= 3 * 2020 * edits, note)
            #expect(edits > 3 || read < before.count / 2, note)
        }
        try store.close()
    }

    // MARK: By value

    /// The difference of two lists without a shared node, taken from two rows.
    private func matching(
        _ old: [Int64], _ new: [Int64], budget: Int = 1 << 24
    ) throws -> (found: ElementMatching, result: [Int64], size: Int) {
        let store = try open(FileImages.Disk(), usualLimits: true)
        var history = CollectionHistory(seed: 1)
        try commit(store, &history, steps: 1) { history, transaction in
            for (key, numbers) in [(1, old), (2, new)] as [(Int64, [Int64])] {
                try history.insertRow(transaction, key)
                try history.set(transaction, key, 1, numbers.map { CollectionPair(value: .integer($0)) })
            }
        }
        let view = try store.snapshot().view
        let earlier = try CollectionReader(view, table: CollectionHistory.owners, key: RowKey(1), column: 1)
        let later = try CollectionReader(view, table: CollectionHistory.owners, key: RowKey(2), column: 1)
        let found = try ElementMatching(
            ElementStretch(earlier, 0..<old.count), ElementStretch(later, 0..<new.count), budget: budget)
        try store.close()
        var result = old
        for range in found.gone.sorted(by: { $0.lowerBound > $1.lowerBound }) { result.removeSubrange(range) }
        for range in found.come.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            result.insert(contentsOf: new[range], at: range.lowerBound)
        }
        return (found, result, (found.gone + found.come).reduce(0) { $0 + $1.count })
    }

    /// The smallest number of removed and inserted elements, by dynamic programming over prefixes.
    private static func fewest(_ old: [Int64], _ new: [Int64]) -> Int {
        var above = Array(0...new.count)
        for (row, value) in old.enumerated() {
            var line = [row + 1]
            for (column, other) in new.enumerated() {
                line.append(value == other ? above[column] : 1 + min(above[column + 1], line[column]))
            }
            above = line
        }
        return above[new.count]
    }

    @Test("the difference of short lists with many duplicates is minimal, except for a few elements")
    func fewestChanges() throws {
        var random = SplitMix64(seed: 4)
        for round in 0..<60 {
            let values = 2 + random.below(4)
            let old = (0..<Int(random.below(40))).map { _ in Int64(random.below(values)) }
            var new = old
            for _ in 0..<random.below(12) {
                let place = Int(random.below(UInt64(new.count + 1)))
                if random.below(2) == 0 || place == new.count {
                    new.insert(Int64(random.below(values)), at: place)
                } else {
                    new.remove(at: place)
                }
            }
            let (_, result, size) = try matching(old, new)
            #expect(result == new, "\(round): \(old) to \(new)")
            // Obvious single changes are taken first, which can cost a few elements more.
            #expect(size <= Self.fewest(old, new) + 8, "\(round): \(old) to \(new)")
        }
    }

    @Test("differences of moved, reversed and new blocks, and of runs of equal elements, have a bounded size")
    func blocks() throws {
        let numbers = Array(Int64(0)..<3000)
        let moved = Array(numbers[200..<300] + numbers[..<200] + numbers[300...])
        let zeros = [Int64](repeating: 7, count: 3000)
        let examples: [(name: String, old: [Int64], new: [Int64], most: Int)] = [
            ("moved", numbers, moved, 200),
            ("swapped ends", numbers, Array(numbers[1500...] + numbers[..<1500]), 3000),
            ("turned round", numbers, numbers.reversed(), 2 * 2999),
            ("every second gone", numbers, numbers.filter { $0 % 2 == 0 }, 1500),
            ("every second replaced", numbers, numbers.map { $0 % 2 == 0 ? $0 : -$0 }, 3000),
            ("one of equals gone", zeros, Array(zeros.dropLast()), 1),
            ("equals and others", zeros, zeros.enumerated().map { $0.offset % 100 == 50 ? 8 : $0.element }, 60),
            ("all else", numbers, numbers.map { $0 + 10_000 }, 6000),
            ("from nothing", [], numbers, 3000), ("to nothing", numbers, [], 3000),
            (
                "changes side by side", numbers,
                numbers.filter { $0 % 7 != 0 || $0 > 700 }.flatMap { $0 % 11 == 0 && $0 < 700 ? [$0, -$0 - 1] : [$0] },
                200
            ),
        ]
        for example in examples {
            let (_, result, size) = try matching(example.old, example.new)
            #expect(result == example.new, Comment(rawValue: example.name))
            #expect(size <= example.most, "\(example.name): \(size)")
        }
    }

    @Test("an expensive difference becomes a replacement, and is still correct")
    func bounded() throws {
        var random = SplitMix64(seed: 5)
        let old = (0..<4000).map { _ in Int64(random.below(3)) }
        let new = (0..<4000).map { _ in Int64(random.below(3)) }
        for budget in [0, 1000, 100_000] {
            let (_, result, size) = try matching(old, new, budget: budget)
            #expect(result == new, "\(budget)")
            #expect(size <= 8000, "\(budget)")
        }
    }
}
