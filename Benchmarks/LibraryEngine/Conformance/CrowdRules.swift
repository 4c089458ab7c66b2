import Harness
import Platform
import RunRecords

enum CrowdRules {
    private static let threadCount = 4
    private static let rounds = 50
    /// In every tenth round a transaction stays open for a while after its read, so that conflicts do not depend on
    /// luck.
    private static let slowRounds = 10
    private static let slowMicroseconds: UInt32 = 5_000

    /// Rules for concurrent use.
    static let rules: [ConformanceRule] = [
        ConformanceRule(
            "threads", "transactions of several threads lose nothing of each other",
            unless: { $0.threads == .one ? "its threads are ASSAY_ONE_THREAD" : nil }
        ) { subject in
            try raise(subject)
        },
        ConformanceRule(
            "free-threads", "a transaction that one thread began is used and ended by another",
            unless: { $0.threads == .free ? nil : "its threads are not ASSAY_THREADS_FREE" }
        ) { subject in
            try subject.withStore { store in
                let slot = TransactionSlot()
                _ = try ThreadGroup.run(1) { _ in
                    let transaction = try store.begin(.write)
                    try transaction.change("a", "1")
                    slot.transaction = transaction
                }
                guard let transaction = slot.transaction else { throw RuleBroken("begin gave nothing") }
                try transaction.change("b", "2")
                try transaction.commit()
                try expect(try store.entries().count, 2, "the number of keys after a commit by another thread")
            }
        },
        ConformanceRule("processes", "several processes have one store open and lose nothing", claim: .processes) {
            subject in
            let place = try subject.place("store")
            // This process opens nothing before it forks: an open may start threads.
            let children = try (0..<3).map { number in
                try ForkedChild.start { _ in
                    do {
                        let store = try LibraryStore(subject.library, directory: place, subject.durability)
                        if number == 0 { try store.change([([0], [0, 0])]) }
                        try store.change([([1, UInt8(number)], [1])])
                        // A child continues only when all children have the store open. It waits as long as a correct
                        // library may take to show another process's commit.
                        let wanted: [[UInt8]] = [[0], [1, 0], [1, 1], [1, 2]]
                        for _ in 0..<1_000 where try wanted.contains(where: { try store.value($0) == nil }) {
                            usleep(1_000)
                        }
                        for _ in 0..<100 { try store.increment([0]) }
                        try store.close()
                        return 0
                    } catch {
                        return 2
                    }
                }
            }
            for child in children where child.wait() != .exited(0) {
                throw RuleBroken("a process that had the store open beside another one was refused: \(child.wait())")
            }
            try subject.withStore(place) { store in
                try expect(
                    try store.counter([0]), 300, "a counter that three processes raised 100 times each")
            }
        },
    ]

    /// Each thread increments one counter, and puts keys of its own.
    private static func raise(_ subject: ConformanceSubject) throws {
        let place = try subject.place("store")
        try subject.withStore(place) { store in
            try store.change([([0], [0, 0])])
            _ = try ThreadGroup.run(threadCount) { thread in
                for round in 0..<rounds {
                    try store.increment([0], pause: round % slowRounds == 0 ? slowMicroseconds : 0)
                    try store.change([([1, UInt8(thread), UInt8(round)], [UInt8(thread)])])
                    _ = try store.entries()
                }
            }
            try judge(store)
        }
        guard subject.description.claims.contains(.persistent) else { return }
        try subject.withStore(place) { try judge($0) }
    }

    private static func judge(_ store: LibraryStore) throws {
        let all = threadCount * rounds
        try expect(try store.counter([0]), all, "a counter that \(threadCount) threads raised \(rounds) times each")
        try expect(try store.entries().count, all + 1, "the number of keys that \(threadCount) threads put")
    }
}

/// Passes a transaction from an ended thread to another one.
///
/// `@unchecked Sendable`: the threads use it one after the other.
private final class TransactionSlot: @unchecked Sendable {
    var transaction: LibraryTransaction?
}

extension LibraryStore {
    /// A number of two bytes, one more than it was. `pause`: microseconds between reading and writing it.
    fileprivate func increment(_ key: [UInt8], pause: UInt32 = 0) throws(EngineError) {
        try write { transaction throws(EngineError) in
            guard let old = try transaction.value(key), old.count == 2 else {
                throw EngineError(.refused, "the counter is not there")
            }
            if pause > 0 { usleep(pause) }
            let value = Int(old[0]) << 8 + Int(old[1]) + 1
            try transaction.change(key, [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)])
        }
    }

    fileprivate func counter(_ key: [UInt8]) throws(EngineError) -> Int {
        let bytes = try value(key) ?? []
        return bytes.count == 2 ? Int(bytes[0]) << 8 + Int(bytes[1]) : -1
    }
}
