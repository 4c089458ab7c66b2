import Seeds

/// A history without an anomaly: a single thread runs transactions one after the other, with recorded times that
/// overlap as if several actors had run them. A checker that reports an anomaly in it is wrong.
package struct RandomHistory: Sendable {
    package var transactions = 100
    package var actors = 4
    /// Keys in use at a time, half of them lists.
    package var keys = 6
    package var mostOperations = 4
    /// A list of this many elements is replaced by a new one.
    package var mostElements = 16
    /// Percentages of transactions that are rolled back, and that have an unknown fate.
    package var aborted = 5
    package var unknown = 5

    package init() {}

    private struct Cells {
        var registers: [Int: Int64] = [:]
        var lists: [Int: [Int64]] = [:]
    }

    package func make(_ seed: Seed) -> History {
        var random = RandomStream(seed)
        let operations = transactions * (mostOperations + 1) / 2
        var history = History(
            capacityOfTransactions: transactions, operations: operations, elements: operations * mostElements / 6)
        var cells = Cells()
        var active = Array(0..<keys)
        var nextValue: Int64 = 1
        // Each actor has a turn every `actors` points; its times are within half of that distance around its point.
        let half = 50 * actors
        for index in 0..<transactions {
            let point = UInt64(1_000_000 + index * 100)
            let end: History.End
            switch random.below(100) {
            case ..<aborted: end = .aborted
            case ..<(aborted + unknown): end = .unknown
            default: end = .committed
            }
            let isDone = end == .committed || end == .unknown && random.chance(1, in: 2)
            history.begin(actor: index % actors, at: point - UInt64(1 + random.below(half - 1)))
            var own = cells
            for _ in 0..<(1 + random.below(mostOperations)) {
                let slot = random.below(keys)
                operate(slot, &active, cells: &own, nextValue: &nextValue, random: &random, history: &history)
            }
            // A rolled-back transaction still used up its values.
            if isDone { cells = own }
            history.end(end, at: point + UInt64(1 + random.below(half - 1)))
        }
        return history
    }

    private func operate(
        _ slot: Int, _ active: inout [Int], cells: inout Cells, nextValue: inout Int64,
        random: inout RandomStream, history: inout History
    ) {
        let key = active[slot]
        let isRead = random.chance(1, in: 2)
        if slot % 2 == 0 {
            if isRead {
                history.readList(key, cells.lists[key] ?? [])
                return
            }
            history.append(key, nextValue)
            cells.lists[key, default: []].append(nextValue)
            nextValue += 1
            if cells.lists[key]?.count == mostElements {
                active[slot] = key + keys
            }
        } else {
            if isRead || random.chance(4, in: 5) { history.read(key, cells.registers[key] ?? History.initialValue) }
            if isRead { return }
            history.write(key, nextValue)
            cells.registers[key] = nextValue
            nextValue += 1
        }
    }
}
