import CAssayEngine
import Harness
import RunRecords

enum ByteRules {
    /// Rules for the bytes of keys and values.
    static let rules: [ConformanceRule] = [
        ConformanceRule("zero-bytes", "bytes 0 in keys and values are bytes like others") { subject in
            try subject.withStore { store in
                let value: [UInt8] = [1, 0, 2, 0, 0, 3]
                try store.change([([0x61], value), ([0x61, 0], [0]), ([0x61, 0, 0x62], [0, 0])])
                try expect(try store.value([0x61]), value, "a value with bytes 0")
                try expect(try store.value([0x61, 0]), [0], "the value of the key 61 00")
                try expect(try store.value([0x61, 0, 0x62]), [0, 0], "the value of the key 61 00 62")
                try expect(try store.entries().count, 3, "the number of keys that differ behind a byte 0")
            }
        },
        ConformanceRule("empty-value", "a value of 0 bytes is there, and empty") { subject in
            let place = try subject.place("store")
            try subject.withStore(place) { store in
                try store.change([([1], [])])
                try expect(try store.value([1]), [], "a value of 0 bytes")
                try expect(try store.entries(), [ConformanceEntry(key: [1], value: [])], "a scan over it")
            }
            guard subject.description.claims.contains(.persistent) else { return }
            try subject.withStore(place) { store in
                try expect(try store.value([1]), [], "a value of 0 bytes after the store was opened again")
            }
        },
        ConformanceRule("empty-key", "a key of 0 bytes is stored, or refused where allows_empty_key is 0") { subject in
            try subject.withStore { store in
                var refusal: EngineError?
                do throws(EngineError) { try store.change([([], [5])]) } catch { refusal = error }
                if subject.description.allowsEmptyKey {
                    if let refusal { throw refusal }
                    try expect(try store.value([]), [5], "the value under the key of 0 bytes")
                    try expect(try store.entries().first?.key, [], "the first key of a scan")
                } else if refusal == nil {
                    throw RuleBroken("allows_empty_key is 0, and putting a key of 0 bytes was no error")
                }
            }
        },
        ConformanceRule("large", "keys and values as long as its limits say are stored whole") { subject in
            let (key, value) = lengths(subject.description)
            let place = try subject.place("store")
            let large = ConformanceEntry(key: filled(key, 3), value: filled(value, 5))
            try subject.withStore(place) { store in
                try store.change([(large.key, [1]), ([1], large.value)])
                try expect(try store.value(large.key), [1], "the value under a key of \(key) bytes")
                guard try store.value([1]) == large.value else { throw RuleBroken("a value of \(value) bytes changed") }
            }
            guard subject.description.claims.contains(.persistent) else { return }
            try subject.withStore(place) { store in
                guard try store.value([1]) == large.value, try store.value(large.key) == [1] else {
                    throw RuleBroken("a key of \(key) bytes or a value of \(value) bytes changed when it was reopened")
                }
            }
        },
        ConformanceRule(
            "limits", "a key or value beyond its limits is refused, and changes nothing",
            unless: { $0.longestKey == 0 && $0.longestValue == 0 ? "it says that it has no limits" : nil }
        ) { subject in
            let limits = subject.description
            try subject.withStore { store in
                try store.change("a", "1")
                if (1...1 << 26).contains(limits.longestKey) {
                    try expectRefusal("a key of \(limits.longestKey + 1) bytes", store) {
                        transaction throws(EngineError) in
                        try transaction.change(filled(Int(limits.longestKey) + 1, 3), [1])
                    }
                }
                if (1...1 << 26).contains(limits.longestValue) {
                    try expectRefusal("a value of \(limits.longestValue + 1) bytes", store) {
                        transaction throws(EngineError) in
                        try transaction.change([1], filled(Int(limits.longestValue) + 1, 3))
                    }
                }
                try expect(try store.entries().count, 1, "the number of keys after what was refused")
            }
        },
        ConformanceRule("copies", "what put was given may be overwritten when it has returned") { subject in
            try subject.withStore { store in
                // Their memory is overwritten and freed before the commit.
                try store.change((0..<100).map { ([1, UInt8($0)], [UInt8]("value \($0)".utf8)) })
                for number in 0..<100 {
                    let wanted = [UInt8]("value \(number)".utf8)
                    try expect(try store.value([1, UInt8(number)]), wanted, "value \(number) of 100")
                }
            }
        },
        ConformanceRule("values-stand", "a value that get gave stands until its transaction's next call") { subject in
            try subject.withStore { store in
                let values = [[UInt8](repeating: 1, count: 100), [UInt8](repeating: 2, count: 100)]
                try store.change([([1], values[0]), ([2], values[1])])
                let (first, second) = (try store.begin(.read), try store.begin(.read))
                defer {
                    first.abort()
                    second.abort()
                }
                try LibraryTransaction.withBytes([1]) { key throws(EngineError) in
                    let got = try first.get(key)
                    let other = try second.value([2])
                    guard let got, Array(got) == values[0], other == values[1] else {
                        throw EngineError(.refused, "get of another transaction changed the bytes that a get had given")
                    }
                }
            }
        },
    ]

    /// Lengths to try where no limit is stated.
    private static func lengths(_ description: LibraryDescription) -> (key: Int, value: Int) {
        (
            key: Int(clamping: min(description.longestKey == 0 ? 1_000 : description.longestKey, 65_536)),
            value: Int(clamping: min(description.longestValue == 0 ? 3 << 20 : description.longestValue, 3 << 20))
        )
    }

    private static func filled(_ count: Int, _ step: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* step &+ $0 >> 8) }
    }

    private static func expectRefusal(
        _ what: String, _ store: LibraryStore, _ body: (LibraryTransaction) throws(EngineError) -> Void
    ) throws {
        let transaction = try store.begin(.write)
        var isRefused = false
        do throws(EngineError) { try body(transaction) } catch { isRefused = true }
        transaction.abort()
        if !isRefused { throw RuleBroken("\(what) is more than its limit, and put was no error") }
    }
}

extension LibraryTransaction {
    /// The results of repeated calls of next at the end of a scan.
    func answersAtEnd(_ count: Int) throws(EngineError) -> [Int32] {
        let cursor = try cursor(nil, nil, isBackward: false)
        defer { end(cursor) }
        return (0..<count).map { _ in answer(cursor) }
    }
}
