import Harness
import RunRecords

enum BasicRules {
    /// Rules for every store.
    static let rules: [ConformanceRule] = [
        ConformanceRule("commit-is-seen", "what was committed is read by the next transaction") { subject in
            try subject.withStore { store in
                try store.change("a", "1")
                try expect(try store.text("a"), "1", "a key that was put and committed")
                try store.change("a", "22")
                try expect(try store.text("a"), "22", "a key that was put a second time")
                try expect(try store.text("b"), nil, "a key that was never put")
                try store.change("a", nil)
                try expect(try store.text("a"), nil, "a key that was deleted")
            }
        },
        ConformanceRule(
            "own-writes", "a write transaction reads what it has put and deleted", claim: .ownWrites
        ) { subject in
            try subject.withStore { store in
                try store.change([(Array("a".utf8), [1]), (Array("b".utf8), [2])])
                try store.write { transaction throws(EngineError) in
                    try transaction.change("a", "new")
                    try transaction.change("b", nil)
                    try transaction.change("c", "3")
                    let seen = [try transaction.text("a"), try transaction.text("b"), try transaction.text("c")]
                    guard seen == ["new", nil, "3"] else {
                        throw EngineError(.refused, "after put a, delete b and put c, get gave \(texts(seen))")
                    }
                    let scanned = try transaction.entries().map { String(decoding: $0.key, as: UTF8.self) }
                    guard scanned == ["a", "c"] else {
                        throw EngineError(.refused, "after put a, delete b and put c, scan gave \(scanned)")
                    }
                }
            }
        },
        ConformanceRule("abort-leaves-nothing", "an aborted transaction leaves nothing") { subject in
            let place = try subject.place("store")
            try subject.withStore(place) { store in
                try store.change([(Array("a".utf8), [1]), (Array("b".utf8), [2])])
                let before = try store.entries()
                let transaction = try store.begin(.write)
                try transaction.change("a", "changed")
                try transaction.change("b", nil)
                try transaction.change("c", "new")
                transaction.abort()
                guard try store.entries() == before else {
                    throw RuleBroken("put a, delete b and put c were aborted, and are seen afterwards")
                }
                try store.change("d", "4")
                try expect(try store.text("c"), nil, "a key of an aborted transaction, after another one's commit")
            }
            guard subject.description.claims.contains(.persistent) else { return }
            try subject.withStore(place) { store in
                try expect(try store.text("c"), nil, "a key of an aborted transaction, after the store was reopened")
            }
        },
        ConformanceRule("delete-missing", "deleting a key that is not there is no error and changes nothing") {
            subject in
            try subject.withStore { store in
                try store.change("a", "1")
                try store.change("missing", nil)
                try expect(try store.entries().count, 1, "the number of keys after a missing one was deleted")
                try store.change([(Array("b".utf8), [2]), (Array("b".utf8), nil)])
                try expect(try store.text("b"), nil, "a key that its own transaction put and deleted")
            }
        },
        ConformanceRule("snapshot-holds", "a snapshot sees nothing that was committed later", claim: .snapshots) {
            subject in
            try subject.withStore { store in
                try store.change([(Array("a".utf8), [1]), (Array("b".utf8), [2])])
                let first = try store.begin(.snapshot)
                defer { first.abort() }
                let before = try first.entries()
                try store.change([(Array("a".utf8), [9]), (Array("b".utf8), nil), (Array("c".utf8), [3])])
                let second = try store.begin(.snapshot)
                defer { second.abort() }
                try store.change("d", "4")
                guard try first.entries() == before, try first.value(Array("a".utf8)) == [1],
                    try first.value(Array("c".utf8)) == nil
                else { throw RuleBroken("a snapshot saw what was committed after it had begun") }
                guard try second.entries().count == 2, try second.text("d") == nil else {
                    throw RuleBroken("a second snapshot, begun between two commits, does not see the first one alone")
                }
                try expect(try store.entries().count, 3, "the number of keys beside open snapshots")
            }
        },
        ConformanceRule("all-at-once", "10 000 random changes leave what a plain list of them leaves") { subject in
            try ModelTrial(subject).run()
        },
    ]

    private static func texts(_ values: [String?]) -> String {
        values.map { $0 ?? "nothing" }.joined(separator: ", ")
    }
}
