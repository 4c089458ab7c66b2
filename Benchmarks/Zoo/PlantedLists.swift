import Harness
import RunRecords

/// Wraps the lists of another engine, with the smallest possible mistake.
final class PlantedLists: ListSession {
    private let base: any ListSession
    private let mistake: EngineMistake
    private let older: OlderState?
    private var changes = 0

    init(_ base: any ListSession, _ mistake: EngineMistake, older: OlderState?) {
        self.base = base
        self.mistake = mistake
        self.older = older
    }

    func sizes() throws(EngineError) -> SizePoint { try base.sizes() }

    func close() throws(EngineError) {
        try base.close()
        try older?.noteClose()
    }

    func addLists(_ lists: ListBatch) throws(EngineError) {
        var lists = lists
        let border = lists.length
        // The last element of the first list and the first one of the next.
        if mistake == .listStrays, lists.values.count > border { lists.values.swapAt(border - 1, border) }
        try base.addLists(lists)
    }

    func change(owner: Int64, _ change: ListChange, beforeCommit: () -> Void) throws(EngineError) {
        changes += 1
        if mistake == .commitMissing && changes == 3 { return }
        try base.change(owner: owner, try bent(owner, change), beforeCommit: beforeCommit)
    }

    /// Alters the last operation of a change.
    private func bent(_ owner: Int64, _ change: ListChange) throws(EngineError) -> ListChange {
        switch (mistake, change) {
        case (.listElementLost, .appendAll(let values)): return .appendAll(values.dropLast())
        case (.listOutOfOrder, .insert(let values, var places)):
            // Second instead of first, if other elements follow.
            guard let last = places.last, last == 0 else { return change }
            places[places.count - 1] = last + 1
            return .insert(values, at: places)
        case (.listRemovesNeighbour, .remove(var places)):
            guard let last = places.last, last > 0 else { return change }
            places[places.count - 1] = last - 1
            return .remove(at: places)
        default: return change
        }
    }

    func readElements(owner: Int64, at places: [Int]) throws(EngineError) -> ListDigest {
        var places = places
        if mistake == .listNeighbour, let last = places.last { places[places.count - 1] = last == 0 ? 1 : last - 1 }
        return try base.readElements(owner: owner, at: places)
    }

    func walkLists(owners: [Int64]) throws(EngineError) -> ListDigest {
        guard mistake == .listWalkShort else { return try base.walkLists(owners: owners) }
        var digest = ListDigest()
        for (number, owner) in owners.enumerated() {
            var values = try base.readList(owner: owner)
            if number == owners.count - 1 { values = values.dropLast() }
            for value in values { digest.add(value) }
            digest.endList()
        }
        return digest
    }

    func readList(owner: Int64) throws(EngineError) -> [Int64] { try base.readList(owner: owner) }
}
