import FaultModel

/// The counts of histories.
struct HistoryCounts: CustomStringConvertible {
    var operations = 0
    var transactions = 0
    var schemaChanges = 0
    var sessions = 0
    var encrypted = 0
    var copies = 0
    /// Crashes by depth: of a session, of the recovery from it, and so on.
    var crashes: [Int] = []
    /// The crashes in which only the process died.
    var deaths = 0
    /// The interrupted phases, with counts.
    var struck: [String: Int] = [:]
    /// States that were checked before their recovery.
    var checked = 0
    var salvaged = 0
    /// Damaged states that a salvage refused as no store.
    var refused = 0

    /// - Parameter struck: the first operation that was not done; nil if all were.
    mutating func note(depth: Int, struck record: IORecord?) {
        while crashes.count < depth { crashes.append(0) }
        crashes[depth - 1] += 1
        struck[Self.name(record), default: 0] += 1
    }

    private static func name(_ record: IORecord?) -> String {
        guard let record else { return "nothing" }
        switch record.action {
        case .preallocate, .truncate: return "growth"
        case .write(_, 0..<8192, let bytes) where bytes.count == 512: return "header slot"
        default: return record.identity.label
        }
    }

    var description: String {
        let places = struck.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return """
            \(operations) operations in \(transactions) transactions, each followed by a walk of all invariants; \
            \(schemaChanges) changes of the schema, \(sessions) sessions, \(copies) copies, \(encrypted) histories \
            encrypted; crashes by depth \(crashes), \(deaths) of them of the process alone; in \(places); \
            \(checked) states checked, \(salvaged) damaged and salvaged (\(refused) refused)
            """
    }

    static func += (one: inout HistoryCounts, other: HistoryCounts) {
        one.operations += other.operations
        one.transactions += other.transactions
        one.schemaChanges += other.schemaChanges
        one.sessions += other.sessions
        one.encrypted += other.encrypted
        one.copies += other.copies
        while one.crashes.count < other.crashes.count { one.crashes.append(0) }
        for (depth, count) in other.crashes.enumerated() { one.crashes[depth] += count }
        one.deaths += other.deaths
        one.struck.merge(other.struck, uniquingKeysWith: +)
        one.checked += other.checked
        one.salvaged += other.salvaged
        one.refused += other.refused
    }
}

/// The contents of versions that the files may hold.
struct VersionModels {
    private static let kept = 200
    private var versions: [(version: UInt64, model: HistoryModel)] = []

    /// The store was opened at a version, so newer ones are gone.
    mutating func begin(_ version: UInt64, _ model: HistoryModel) {
        versions.removeAll { $0.version >= version }
        note(version, model)
    }

    mutating func note(_ version: UInt64, _ model: HistoryModel) {
        versions.append((version, model))
        if versions.count > 2 * Self.kept { versions.removeFirst(Self.kept) }
    }

    /// A version that is not recorded only moved pages, and has the contents of the one before.
    subscript(version: UInt64) -> HistoryModel? { versions.last { $0.version <= version }?.model }

    var newest: UInt64 { versions.last?.version ?? 0 }
}
