import Harness
import RunRecords

/// Random transactions on a store and on a list in memory: after each one, and after a reopen, both must be equal.
struct ModelTrial {
    private let subject: ConformanceSubject
    private static let transactions = 100
    private static let changes = 100

    init(_ subject: ConformanceSubject) {
        self.subject = subject
    }

    func run() throws {
        var random = Random()
        var model: [[UInt8]: [UInt8]] = [:]
        let place = try subject.place("store")
        let isPersistent = subject.description.claims.contains(.persistent)
        var store = try LibraryStore(subject.library, directory: place, subject.durability)
        for round in 0..<Self.transactions {
            var changed = model
            var changes: [(key: [UInt8], value: [UInt8]?)] = []
            for _ in 0..<Self.changes {
                let key = random.key()
                let value = random.next(4) == 0 ? nil : random.value()
                changes.append((key, value))
                changed[key] = value
            }
            if random.next(5) == 0 {
                let transaction = try store.begin(.write)
                for change in changes { try transaction.change(change.key, change.value) }
                transaction.abort()
            } else {
                try store.change(changes)
                model = changed
            }
            if isPersistent, round % 20 == 19 {
                try store.close()
                store = try LibraryStore(subject.library, directory: place, subject.durability)
            }
            try compare(store, model, round)
        }
        try store.close()
    }

    private func compare(_ store: LibraryStore, _ model: [[UInt8]: [UInt8]], _ round: Int) throws {
        let wanted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { ConformanceEntry(key: $0.key, value: $0.value) }
        let got = try store.entries()
        guard got != wanted else { return }
        let place = zip(got, wanted).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        throw RuleBroken(
            "after \(round + 1) transactions a scan gives \(got.count) keys of \(wanted.count)"
                + (place.map { ", and entry \($0) is another one" } ?? ""))
    }

    /// Equal in every run: a failing library fails again.
    private struct Random {
        private var state: UInt64 = 0x2545_F491_4F6C_DD1D

        mutating func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state >> 33) % bound
        }

        mutating func key() -> [UInt8] {
            let count = 1 + next(12)
            // Few byte values, so that keys repeat, and are prefixes of others.
            return (0..<count).map { _ in [0, 1, 0x7F, 0x80, 0xFF][next(5)] }
        }

        mutating func value() -> [UInt8] {
            let count = next(10) == 0 ? next(3_000) : next(20)
            return (0..<count).map { _ in UInt8(next(256)) }
        }
    }
}
