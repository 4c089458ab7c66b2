import Datasets
import Harness
import RunRecords

/// The expected reads of the loaded rows, as sums that make each check cheap.
struct KeyedContent: Sendable {
    static let rows = KeyedRows(table: "Person", columns: ["name", "age", "score"], changed: "age")

    /// By key: the sum over all columns but `changed`, and the value of `changed`.
    private(set) var rests: [UInt64] = []
    private(set) var ages: [Int64] = []
    /// Prefix sums of both over the keys.
    private(set) var sums: [UInt64] = [0]

    init(_ people: Table) throws {
        for row in 0..<people.rowCount {
            let (rest, age) = try Self.parts(people, row)
            rests.append(rest)
            ages.append(age)
            sums.append(sums[row] &+ rest &+ UInt64(bitPattern: age))
        }
    }

    var count: Int { rests.count }

    static func parts(_ people: Table, _ row: Int) throws -> (rest: UInt64, age: Int64) {
        var digest = ReadDigest()
        var changed: Int64?
        for name in rows.columns {
            guard let place = people.columnIndex(name) else { throw HarnessError("\(people.name) has no \(name)") }
            let value = people.value(row: row, column: place)
            if name == rows.changed, case .integer(let integer) = value {
                changed = integer
            } else {
                digest.add(value)
            }
        }
        guard let changed else { throw HarnessError("\(people.name).\(rows.changed) holds no integers") }
        return (digest.sum, changed)
    }

    /// The expected digest of a scan.
    func digest(_ keys: Range<Int64>) -> ReadDigest {
        var digest = ReadDigest()
        digest.count = keys.count * Self.rows.columns.count
        digest.sum = sums[Int(keys.upperBound)] &- sums[Int(keys.lowerBound)]
        return digest
    }
}

/// The work of one lane, and what its reads may return because of it.
struct KeyedModel: Sendable {
    private let content: KeyedContent
    private let mix: KeyedMix
    private let lane: Int
    private let lanes: Int
    /// The most increments that other lanes may have made of a row: their progress is not known.
    private static let mostIncrements: Int64 = 1 << 40
    /// The values that this lane set, and its number of increments.
    private(set) var ages: [Int64: Int64] = [:]
    private(set) var increments: [Int64: Int64] = [:]
    private(set) var inserted: [(key: Int64, rest: UInt64, age: Int64)] = []
    /// A digest of all requests so far, in order: lanes with equal requests have equal digests.
    private(set) var digest: UInt64 = 0

    init(_ content: KeyedContent, _ stream: RequestStream) {
        self.content = content
        mix = stream.mix
        lane = stream.lane
        lanes = stream.lanes
    }

    /// Adds an answered request to the model; nil where the answer is right.
    mutating func take(_ request: KeyedRequest, _ answer: ReadDigest, row: Table?) throws -> String? {
        let part = UInt64(bitPattern: request.key &* 1_009 &+ request.value) &* 8
        digest = digest &* 0x9E37_79B9_7F4A_7C15 &+ part &+ UInt64(request.operation.rawValue)
        switch request.operation {
        case .read: return complaint(request, answer)
        case .scan:
            let wanted = content.digest(request.key..<(request.key + request.value))
            if wanted == answer { return nil }
            return "scan of \(request.value) rows from \(request.key): \(answer), not \(wanted)"
        case .update: ages[request.key] = request.value
        case .insert:
            if let row {
                let (rest, age) = try KeyedContent.parts(row, 0)
                inserted.append((request.key, rest, age))
            }
        case .increment:
            defer { increments[request.key, default: 0] += 1 }
            return complaint(request, answer)
        }
        return nil
    }

    private func complaint(_ request: KeyedRequest, _ answer: ReadDigest) -> String? {
        guard let (rest, age) = loaded(request.key) else { return "\(request.operation.name) of row \(request.key)" }
        let got = Int64(bitPattern: answer.sum &- rest)
        let allowed = allowed(request.key, age)
        if answer.count == KeyedContent.rows.columns.count, allowed.contains(got) { return nil }
        return "\(request.operation.name) of row \(request.key): \(answer.count) values, age \(got), "
            + "not \(KeyedContent.rows.columns.count) and \(allowed)"
    }

    private func loaded(_ key: Int64) -> (rest: UInt64, age: Int64)? {
        if key < content.count { return (content.rests[Int(key)], content.ages[Int(key)]) }
        let place = (Int(key) - content.count) / lanes
        return place < inserted.count ? (inserted[place].rest, inserted[place].age) : nil
    }

    /// The ages that a read may return: a single one if no other lane can change the row.
    private func allowed(_ key: Int64, _ age: Int64) -> ClosedRange<Int64> {
        if mix.increments {
            let least = age + (increments[key] ?? 0)
            return least...(lanes == 1 ? least : least + Self.mostIncrements)
        }
        guard mix.updates else { return age...age }
        if Int(key) % lanes == lane {
            let own = ages[key] ?? age
            return own...own
        }
        return 0...Self.mostIncrements
    }
}
