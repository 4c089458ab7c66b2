import Harness

/// Wraps the salvage of another engine, with one mistake, which it makes only if something is lost: a salvage of an
/// intact database stays right.
struct PlantedSalvage {
    let base: any SalvagingEngine
    let mistake: EngineMistake

    func run(_ damaged: DatabaseLocation, into rescued: DatabaseLocation) throws(EngineError) -> SalvageClaim? {
        guard var claim = try base.salvage(damaged, into: rescued) else { return nil }
        let place = claim.losses.firstIndex { $0.rows > 0 || !$0.columns.isEmpty } ?? claim.losses.startIndex
        if claim.isWhole || claim.losesNames || claim.losses.isEmpty { return claim }
        let table = claim.losses[place].table
        switch mistake {
        case .salvageDropsRow:
            try withKeys(of: table, in: rescued) { session, keys throws(EngineError) in
                try session.delete(table: table, keys: Array(keys.prefix(1)))
            }
        case .salvageMixesRows:
            try withKeys(of: table, in: rescued) { session, keys throws(EngineError) in
                guard let first = keys.first else { return }
                let age = try age(first, of: table, session)
                for key in keys.dropFirst() {
                    let other = try self.age(key, of: table, session)
                    if other == age { continue }
                    return try session.update(table: table, column: "age", keys: [first], values: [other])
                }
            }
        case .salvageOverclaims:
            claim.losses[place].rows += 1
            claim.losses[place].keys.append(SalvageClaim.Keys(low: .min, high: .max, rows: nil))
        case .salvageSilent:
            for index in claim.losses.indices {
                claim.losses[index] = SalvageClaim.Loss(table: claim.losses[index].table)
            }
            claim.isWhole = true
        case .salvageForgetsTable:
            try withKeys(of: table, in: rescued) { session, keys throws(EngineError) in
                try session.delete(table: table, keys: keys)
            }
            claim.losses.remove(at: place)
        default: break
        }
        return claim
    }

    private typealias Changing = TableSession & DeletionSession & UpdateSession

    /// Keys are 0 and up.
    private func withKeys(
        of table: String, in location: DatabaseLocation,
        _ body: (any Changing, _ keys: [Int64]) throws(EngineError) -> Void
    ) throws(EngineError) {
        let session = try base.open(location, settings: base.settings(for: .none))
        guard let changing = session as? any Changing else {
            throw EngineError(.unsupported, "\(base.name) changes no rows")
        }
        let count = try changing.rowCount(table: table)
        var keys: [Int64] = []
        var key: Int64 = 0
        while keys.count < count && key < 1_000_000 {
            if try changing.readPoints(Self.reads(key, table), latency: nil).count > 0 { keys.append(key) }
            key += 1
        }
        try body(changing, keys)
        try session.close()
    }

    private func age(_ key: Int64, of table: String, _ session: any Changing) throws(EngineError) -> Int64 {
        Int64(bitPattern: try session.readPoints(Self.reads(key, table), latency: nil).sum)
    }

    private static func reads(_ key: Int64, _ table: String) -> PointReads {
        PointReads(table: table, keys: [key], columns: ["age"])
    }
}
