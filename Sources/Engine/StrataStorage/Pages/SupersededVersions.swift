/// Versions that were visible, or waited to be, until a newer one became visible. Each loses one protection then.
struct SupersededVersions: Equatable {
    private(set) var oldest: UInt64?
    /// Ascending. Empty unless several commits share a sync, so that most commits allocate nothing for it.
    private(set) var others: [UInt64]

    init(oldest: UInt64?, others: [UInt64]) {
        self.oldest = oldest
        self.others = others
    }

    func forEach(_ body: (UInt64) -> Void) {
        if let oldest { body(oldest) }
        others.forEach(body)
    }

    mutating func removeAll(where isKept: (UInt64) -> Bool) {
        if let version = oldest, isKept(version) { oldest = nil }
        if !others.isEmpty { others.removeAll(where: isKept) }
    }
}
