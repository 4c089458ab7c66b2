import StoreMigration
import Testing

@Suite struct MigrationPhaseTests {
    let place: MigrationPlace
    let old = StoreInMemory([MigrationPlace.model])
    let new = StoreInMemory([MigrationPlace.model])

    init() throws { place = try MigrationPlace() }

    @Test("phases follow each other, and the stores must have been compared before the new one is read")
    func steps() throws {
        old.put(person(1, "a"))
        let writer = try place.writer(old, new)
        #expect(writer.phase == .old)
        #expect(throws: MigrationError.self) { try writer.enter(.new) }
        try writer.enter(.bothOldRead)
        let uncompared = #expect(throws: MigrationError.self) { try writer.enter(.bothNewRead) }
        #expect(uncompared?.code == .notReconciled)
        let reconciler = try Reconciler(writer)
        let different = #expect(throws: MigrationError.self) { try writer.enter(.bothNewRead) }
        #expect(different?.code == .notReconciled && writer.phase == .bothOldRead)
        #expect(try reconciler.mend(.oldWins).mended == 1)
        try writer.enter(.bothNewRead)
        try writer.enter(.new)
        #expect(writer.phase == .new)
        #expect(try place.writer(old, new).phase == .new, "the phase is durable")
    }

    @Test("the way back writes the changes since the cut-over to the old store, deletions too")
    func wayBack() throws {
        for key in 1...3 {
            old.put(person(key, "a"))
            new.put(person(key, "a"))
        }
        do {
            let writer = try place.writer(old, new)
            for phase in [MigrationPhase.bothOldRead, .bothNewRead, .new] { try writer.enter(phase, unchecked: true) }
            try writer.write([.upsert(person(1, "changed")), .delete(id(2)), .upsert(person(4, "made"))])
        }
        let writer = try place.writer(old, new)
        #expect(old.all[id(1)]?["name"] == .text("a"))
        old.fail([.planted])
        #expect(throws: (any Error).self) { try writer.enter(.bothNewRead) }
        #expect(writer.phase == .new)
        try writer.enter(.bothNewRead)
        #expect(old.all == new.all && old.all.count == 3)
        let count = old.batches.count
        try writer.enter(.new, unchecked: true)
        try writer.enter(.bothNewRead)
        #expect(old.batches.count == count, "notes of changes written back are removed")
    }

    @Test("after retire there is no way back")
    func retired() throws {
        let writer = try place.writer(old, new)
        let early = #expect(throws: MigrationError.self) { try writer.retire() }
        #expect(early?.code == .wrongPhase)
        for phase in [MigrationPhase.bothOldRead, .bothNewRead, .new] { try writer.enter(phase, unchecked: true) }
        try writer.retire()
        #expect(try writer.isRetired)
        let error = #expect(throws: MigrationError.self) { try writer.enter(.bothNewRead) }
        #expect(error?.code == .retired)
        #expect(try writer.write([.upsert(person(1, "a"))]).isDone)
        #expect(old.all.isEmpty)
    }
}
