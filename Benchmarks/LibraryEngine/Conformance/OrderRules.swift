import Harness
import RunRecords

enum OrderRules {
    /// Keys whose order is easily wrong: prefixes of others, bytes above 127, bytes 0.
    private static let keys: [[UInt8]] = [
        [0], [0, 0], [0, 1], [1], [1, 0], [0x61], [0x61, 0], [0x61, 0x62], [0x62], [0x7F], [0x80], [0x80, 0], [0xFE],
        [0xFF], [0xFF, 0], [0xFF, 0xFF],
    ]

    private static func withKeys(_ subject: ConformanceSubject, _ body: (LibraryTransaction) throws -> Void) throws {
        try subject.withStore { store in
            // Not in order.
            let mixed = keys.indices.map { keys[$0 * 7 % keys.count] }
            try store.change(mixed.map { ($0, $0 + [7]) })
            let transaction = try store.begin(store.snapshotKind)
            defer { transaction.abort() }
            try body(transaction)
        }
    }

    private static func compare(_ entries: [ConformanceEntry], _ wanted: [[UInt8]], _ what: String) throws {
        guard entries.map(\.key) == wanted else {
            throw RuleBroken("\(what): it gave \(hex(entries.map(\.key))), and has to give \(hex(wanted))")
        }
        guard let wrong = entries.first(where: { $0.value != $0.key + [7] }) else { return }
        throw RuleBroken("\(what): key \(hex([wrong.key])) came with the value of another one")
    }

    static func hex(_ keys: [[UInt8]]) -> String {
        keys.isEmpty
            ? "nothing"
            : keys.map { key in
                key.map { (String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)) }.joined()
            }.joined(separator: " ")
    }

    /// Rules for scans.
    static let rules: [ConformanceRule] = [
        ConformanceRule("scan-order", "a scan gives all keys in the order of their bytes, as memcmp has it") {
            subject in
            try withKeys(subject) { transaction in
                try compare(try transaction.entries(), keys, "a scan without bounds")
                try compare(
                    try transaction.entries(isBackward: true), keys.reversed(), "a backward scan without bounds")
            }
        },
        ConformanceRule("scan-bounds", "a scan begins with its first bound and ends before its second") { subject in
            try withKeys(subject) { transaction in
                for low in bounds {
                    for high in bounds {
                        let wanted = keys.filter { key in
                            !key.lexicographicallyPrecedes(low) && key.lexicographicallyPrecedes(high)
                        }
                        try compare(
                            try transaction.entries(from: low, to: high), wanted,
                            "a scan from \(hex([low])) to \(hex([high]))")
                    }
                    let rest = keys.filter { !$0.lexicographicallyPrecedes(low) }
                    try compare(try transaction.entries(from: low), rest, "a scan from \(hex([low])) to the end")
                    let before = keys.filter { $0.lexicographicallyPrecedes(low) }
                    try compare(try transaction.entries(to: low), before, "a scan from the start to \(hex([low]))")
                }
            }
        },
        ConformanceRule("scan-backward", "a backward scan begins with its first bound and ends before its second") {
            subject in
            try withKeys(subject) { transaction in
                for high in bounds {
                    for low in bounds {
                        let wanted = keys.filter { key in
                            !high.lexicographicallyPrecedes(key) && low.lexicographicallyPrecedes(key)
                        }
                        try compare(
                            try transaction.entries(from: high, to: low, isBackward: true), wanted.reversed(),
                            "a backward scan from \(hex([high])) to \(hex([low]))")
                    }
                    let rest = keys.filter { !high.lexicographicallyPrecedes($0) }
                    try compare(
                        try transaction.entries(from: high, isBackward: true), rest.reversed(),
                        "a backward scan from \(hex([high])) to the start")
                }
            }
        },
        ConformanceRule("scan-ends", "a cursor at its end stays there, and an empty store has no entry") { subject in
            try subject.withStore { store in
                for wanted in 0...1 {
                    if wanted == 1 { try store.change("a", "1") }
                    let transaction = try store.begin(store.snapshotKind)
                    defer { transaction.abort() }
                    let answers = try transaction.answersAtEnd(6)
                    guard answers == Array(repeating: 0, count: wanted) + Array(repeating: 1, count: 6 - wanted) else {
                        throw RuleBroken("next was called 6 times over \(wanted) keys, and answered \(answers)")
                    }
                }
            }
        },
    ]

    /// Some are keys, some lie between two keys, one is before and one after all keys.
    private static let bounds: [[UInt8]] = [
        [0], [0, 0, 0], [1], [0x61], [0x61, 0x61], [0x80], [0xFE, 1], [0xFF, 0xFF], [0xFF, 0xFF, 0xFF],
    ]
}
