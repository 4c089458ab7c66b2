import Files
import Harness
import Measuring
import StoreMigration

/// Compares the cost of a batch that goes to both stores with that of a batch that goes to one.
struct WritingCost {
    private let context: CaseContext

    init(_ context: CaseContext) { self.context = context }

    private enum Way: String, CaseIterable {
        /// The adapters themselves, without a writer.
        case oldStore = "old store alone"
        case newStore = "new store alone"
        case old = "phase old"
        case oldFirst = "both, old first"
        case newFirst = "both, new first"
        case new = "phase new"
    }

    /// Rows in the stores before the first batch.
    private static let rows = 1_000

    func measure(batches: Int) throws {
        var times: [Way: Double] = [:]
        try context.withMigrationErrors {
            for way in Way.allCases {
                if context.isOverBudget { return context.report.cut() }
                times[way] = try time(way, batches)
            }
        }
        for way in Way.allCases {
            guard let time = times[way] else { continue }
            context.report.add(.batchMicroseconds, time / 1e3, count: batches, label: way.rawValue)
            context.report.add(.commitsPerSecond, 1e9 / max(time, 1), count: batches, label: way.rawValue)
        }
        for (twice, once) in [(Way.oldFirst, Way.oldStore), (.oldFirst, .newStore), (.newFirst, .newStore)] {
            guard let above = times[twice], let below = times[once], below > 0 else { continue }
            context.report.add(
                .twiceOverOnce, above / below, count: batches, label: "\(twice.rawValue), over \(once.rawValue)")
        }
    }

    /// Each batch inserts, changes and deletes a row.
    private static func batch(_ number: Int) -> [ContactBook.Change] {
        [
            .put(ContactRow(number: rows + number + 1, friend: 1)), .rename(number % 500 + 1, "renamed \(number)"),
            .delete(number == 0 ? rows : rows + number),
        ]
    }

    /// Nanoseconds per batch.
    private func time(_ way: Way, _ batches: Int) throws -> Double {
        let place = MigrationPlace("\(context.directory)/cost-\(way)")
        try place.make((1...Self.rows).map { ContactRow(number: $0) })
        let all = (0..<batches).map { Self.batch($0).map(\.recordChange) }
        let nanoseconds: UInt64
        switch way {
        case .oldStore: nanoseconds = try Self.time(all, in: place.old.open())
        case .newStore: nanoseconds = try Self.time(all, in: place.openNew())
        case .old, .oldFirst, .newFirst, .new:
            let writer = try place.writer(way == .newFirst ? .newFirst : .oldFirst)
            try writer.advance(to: way == .old ? .old : way == .new ? .new : .bothOldRead)
            let start = MonotonicClock.now()
            for batch in all {
                guard try writer.write(batch).isDone else { throw EngineError(.refused, "a batch waits without cause") }
            }
            nanoseconds = MonotonicClock.now() - start
            try writer.close()
        }
        try check(place, way, batches)
        try FileTree.remove(place.directory)
        return Double(nanoseconds) / Double(batches)
    }

    private static func time(_ batches: [[RecordChange]], in store: any PrimaryStore) throws -> UInt64 {
        let start = MonotonicClock.now()
        for batch in batches { try store.apply(batch) }
        let end = MonotonicClock.now()
        try store.close()
        return end - start
    }

    private func check(_ place: MigrationPlace, _ way: Way, _ batches: Int) throws {
        let before = ContactBook((1...Self.rows).map { ContactRow(number: $0) })
        var after = before
        for number in 0..<batches { after.apply(Self.batch(number)) }
        let (old, new) = try place.contents()
        let writesOld = way != .newStore && way != .new
        let writesNew = way != .oldStore && way != .old
        let differences = [
            ("old", old.difference(from: writesOld ? after : before)),
            ("new", new.difference(from: writesNew ? after : before)),
        ]
        for (name, difference) in differences {
            context.report.check("\(way.rawValue): \(name) store", expected: nil, got: difference)
        }
    }
}
