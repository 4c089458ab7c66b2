import Seeds

/// The operation of a request.
enum KeyedOperation: Int, Sendable, CaseIterable {
    case read, update, insert, scan, increment

    var name: String {
        switch self {
        case .read: "read"
        case .update: "update"
        case .insert: "insert"
        case .scan: "scan"
        case .increment: "read-modify-write"
        }
    }

    var isChange: Bool { self == .update || self == .insert || self == .increment }
}

/// One operation, before it runs.
struct KeyedRequest: Sendable {
    var operation: KeyedOperation
    var key: Int64
    /// For an update the new value; for a scan the number of rows.
    var value: Int64 = 0
}

/// YCSB's core workloads.
enum KeyedMix: String, Sendable {
    case a, b, c, d, e, f

    /// Percent of each operation.
    var shares: [(operation: KeyedOperation, percent: Int)] {
        switch self {
        case .a: [(.read, 50), (.update, 50)]
        case .b: [(.read, 95), (.update, 5)]
        case .c: [(.read, 100)]
        case .d: [(.read, 95), (.insert, 5)]
        case .e: [(.scan, 95), (.insert, 5)]
        case .f: [(.read, 50), (.increment, 50)]
        }
    }

    /// Whether the most recently inserted rows are read most.
    var readsLatest: Bool { self == .d }
    var updates: Bool { self == .a || self == .b }
    var increments: Bool { self == .f }
}

/// The requests of one lane, determined by the seed alone.
///
/// A lane updates and inserts only keys whose remainder by the number of lanes is its own number, so that the final
/// content does not depend on the order of lanes. It reads, scans and increments any row.
struct RequestStream: Sendable {
    let mix: KeyedMix
    /// Number of loaded rows.
    let rows: Int
    let lane: Int
    let lanes: Int
    private let zipfian: Zipfian
    private var random: RandomStream
    private(set) var inserted = 0

    static let longestScan = 100
    private var updated: Int64 = 0

    init(_ mix: KeyedMix, rows: Int, lane: Int, of lanes: Int, zipfian: Zipfian, seed: Seed) {
        self.mix = mix
        self.rows = rows
        self.lane = lane
        self.lanes = lanes
        self.zipfian = zipfian
        random = RandomStream(seed.derived(UInt64(lane)))
    }

    mutating func take(_ count: Int) -> [KeyedRequest] { (0..<count).map { _ in next() } }

    private mutating func next() -> KeyedRequest {
        var part = random.below(100)
        var operation = KeyedOperation.read
        for share in mix.shares {
            operation = share.operation
            if part < share.percent { break }
            part -= share.percent
        }
        switch operation {
        case .read: return KeyedRequest(operation: .read, key: mix.readsLatest ? latest() : anyKey())
        case .update:
            // Never the current value: an engine may skip such an update, and then it syncs nothing.
            updated += 1
            return KeyedRequest(operation: .update, key: ownKey(), value: RandomAges.firstAge + updated)
        case .insert:
            inserted += 1
            return KeyedRequest(operation: .insert, key: insertedKey(inserted - 1))
        case .scan:
            // A scan ends before the rows that are being inserted, so that its result is known.
            let longest = min(Self.longestScan, max(1, rows / 2))
            let first = zipfian.scattered(&random) % (rows - longest + 1)
            return KeyedRequest(operation: .scan, key: Int64(first), value: Int64(1 + random.below(longest)))
        case .increment: return KeyedRequest(operation: .increment, key: anyKey())
        }
    }

    private mutating func anyKey() -> Int64 { Int64(zipfian.scattered(&random)) }

    private mutating func ownKey() -> Int64 {
        let key = zipfian.scattered(&random)
        let own = key - key % lanes + lane
        return Int64(own < rows ? own : own - lanes)
    }

    func insertedKey(_ place: Int) -> Int64 { Int64(rows + place * lanes + lane) }

    /// The rows of this lane from the last one backwards, then the loaded ones.
    private mutating func latest() -> Int64 {
        let back = zipfian.rank(&random)
        return back < inserted ? insertedKey(inserted - 1 - back) : Int64(max(0, rows - 1 - (back - inserted)))
    }
}
