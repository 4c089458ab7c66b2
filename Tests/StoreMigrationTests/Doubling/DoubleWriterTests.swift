import StoreMigration
import Testing

@Suite struct DoubleWriterTests {
    let place: MigrationPlace
    let old = StoreInMemory([MigrationPlace.model])
    let new = StoreInMemory([MigrationPlace.model])

    init() throws { place = try MigrationPlace() }

    private func writer(
        _ order: WriteOrder = .oldFirst, _ phase: MigrationPhase = .bothOldRead
    ) throws -> DoubleWriter {
        let writer = try place.writer(old, new, order)
        for step in MigrationPhase.allCases.dropFirst() where step.rawValue <= phase.rawValue {
            try writer.enter(step, unchecked: true)
        }
        return writer
    }

    @Test(
        "each phase writes and reads the stores in its name",
        arguments: MigrationPhase.allCases)
    func phases(phase: MigrationPhase) throws {
        let writer = try writer(.oldFirst, phase)
        #expect(try writer.write([.upsert(person(1, "a"))]).isDone)
        #expect((old.all[id(1)] != nil) == (phase != .new))
        #expect((new.all[id(1)] != nil) == (phase != .old))
        let read = phase.readSide == .old ? old : new
        let before = read.reads
        #expect(try writer.records([id(1)])[id(1)]?["name"] == .text("a"))
        #expect(read.reads == before + 1)
        #expect(writer.figures[phase]?.batches == 1)
    }

    @Test("a change that one store cannot hold is refused before anything is written")
    func checked() throws {
        let writer = try writer()
        for change: RecordChange in [
            .delete(RecordID("Absent", 1)), .delete(RecordID("MigratedPerson", "1")),
            .upsert(Record(id(1), ["nme": .text("a")])), .upsert(Record(id(1), ["name": .null])),
            .upsert(Record(id(1), ["score": .real(.nan)])), .upsert(Record(id(1), ["isActive": .integer(2)])),
            .upsert(Record(id(1), ["name": .integer(1)])),
        ] {
            let error = #expect(throws: MigrationError.self) { try writer.write([.upsert(person(9, "b")), change]) }
            #expect(error?.code == .invalidChange)
        }
        #expect(old.batches.isEmpty && new.batches.isEmpty)
    }

    @Test("if the first store refuses, nothing is written and nothing waits", arguments: WriteOrder.allCases)
    func firstRefuses(order: WriteOrder) throws {
        let writer = try writer(order)
        (order == .oldFirst ? old : new).fail([.planted])
        let error = #expect(throws: MigrationError.self) { try writer.write([.upsert(person(1, "a"))]) }
        #expect(error?.code == .writeRefused)
        #expect(old.all.isEmpty && new.all.isEmpty && writer.waitingCount == 0)
    }

    @Test("if the first store fails but has the batch, both get it", arguments: WriteOrder.allCases)
    func firstUnknown(order: WriteOrder) throws {
        let writer = try writer(order)
        (order == .oldFirst ? old : new).fail([.afterCommit])
        let error = #expect(throws: MigrationError.self) { try writer.write([.upsert(person(1, "a"))]) }
        #expect(error?.code == .writeUnknown)
        #expect(try writer.drain() == 0)
        #expect(old.all == new.all && old.all.count == 1)
    }

    @Test(
        "waiting batches reach the second store in order, before later ones",
        arguments: WriteOrder.allCases)
    func order(order: WriteOrder) throws {
        let writer = try writer(order)
        let second = order == .oldFirst ? new : old
        second.fail([.planted, .planted])
        guard case .waiting(let side, _) = try writer.write([.upsert(person(1, "first"))]) else {
            Issue.record("the batch does not wait")
            return
        }
        #expect(side == (order == .oldFirst ? .new : .old))
        #expect(try !writer.write([.upsert(person(1, "second"))]).isDone)
        #expect(writer.waitingCount == 2)
        #expect(try writer.lagSeconds >= 0)
        #expect(try writer.write([.upsert(person(1, "third"))]).isDone)
        #expect(writer.waitingCount == 0)
        #expect(old.all == new.all)
        #expect(second.all[id(1)]?["name"] == .text("third"))
        let first = order == .oldFirst ? old : new
        #expect(first.batches.count == 3, "the first store never returns to older values")
        #expect(writer.figures[.bothOldRead]?.waited == 2)
    }

    @Test("waiting batches outlive the process", arguments: WriteOrder.allCases)
    func waitingIsDurable(order: WriteOrder) throws {
        do {
            let writer = try writer(order)
            (order == .oldFirst ? new : old).fail([.planted])
            #expect(try !writer.write([.upsert(person(1, "a")), .delete(id(2))]).isDone)
        }
        let again = try place.writer(old, new, order)
        #expect(again.waitingCount == 0 && again.phase == .bothOldRead)
        #expect(old.all == new.all && old.all.count == 1)
    }

    @Test("after a crash with waiting batches each store gets what it lacks, and nothing older")
    func deathWhileWaiting() throws {
        do {
            let writer = try writer()
            new.fail(Array(repeating: .planted, count: 6))
            for step in 1...3 { #expect(try !writer.write([.upsert(person(1, "\(step)"))]).isDone) }
            // The next attempt writes the first batch and fails at the second, as if the process died there.
            new.fail([nil, .planted])
            #expect(throws: MigrationError.self) { try writer.enter(.old) }
            #expect(writer.waitingCount == 2)
        }
        #expect(new.batches.count == 1)
        _ = try place.writer(old, new)
        func names(_ store: StoreInMemory) -> [String] {
            store.batches.map { if case .upsert(let record)? = $0.first { "\(record["name"])" } else { "" } }
        }
        #expect(names(new) == ["1", "2", "3"].map { "\(FieldValue.text($0))" })
        #expect(names(old) == ["1", "2", "3", "3"].map { "\(FieldValue.text($0))" })
        #expect(old.all == new.all)
    }

    @Test("a batch that a store can never accept is discarded, and its records differ")
    func givenUp() throws {
        let writer = try writer()
        let reconciler = try Reconciler(writer)
        new.fail(Array(repeating: .planted, count: 4))
        for key in 1...2 { #expect(try !writer.write([.upsert(person(key, "a"))]).isDone) }
        #expect(throws: MigrationError.self) { try writer.enter(.old) }
        #expect(try writer.giveUpWaiting() == 2 && writer.waitingCount == 0)
        #expect(try reconciler.divergences().map(\.id) == [id(1), id(2)])
        try writer.enter(.old)
        #expect(try place.writer(old, new).waitingCount == 0)
        #expect(new.all.isEmpty)
    }

    @Test("infinite numbers wait like others")
    func infinite() throws {
        do {
            let writer = try writer()
            new.fail([.planted])
            #expect(try !writer.write([.upsert(Record(id(1), ["score": .real(-.infinity)]))]).isDone)
        }
        _ = try place.writer(old, new)
        #expect(new.all[id(1)]?["score"] == .real(-.infinity))
    }

    @Test("a full outbox refuses and writes nothing")
    func fullOutbox() throws {
        let writer = try place.writer(old, new, .oldFirst, limit: 2)
        try writer.enter(.bothOldRead)
        new.fail(Array(repeating: .planted, count: 20))
        for key in 1...2 { #expect(try !writer.write([.upsert(person(key, "a"))]).isDone) }
        let error = #expect(throws: MigrationError.self) { try writer.write([.upsert(person(3, "a"))]) }
        #expect(error?.code == .outboxFailed)
        #expect(old.all.count == 2)
    }

    @Test(
        "an account switch in any phase: closed, compacted, reopened, nothing lost",
        arguments: MigrationPhase.allCases)
    func accountSwitch(phase: MigrationPhase) throws {
        let writer = try writer(.oldFirst, phase)
        try writer.write([.upsert(person(1, "a"))])
        if phase.writesBoth {
            new.fail([.planted])
            #expect(try !writer.write([.upsert(person(2, "b"))]).isDone)
        }
        #expect(throws: MigrationError.self) { try writer.compact() }
        try writer.close()
        #expect(!old.isOpen && !new.isOpen)
        #expect(throws: MigrationError.self) { try writer.write([.delete(id(1))]) }
        try writer.compact()
        try writer.reopen()
        #expect(old.compactions == 1 && new.compactions == 1)
        #expect(writer.phase == phase && writer.waitingCount == 0)
        if phase.writesBoth { #expect(old.all == new.all && old.all.count == 2) }
        #expect(try writer.write([.upsert(person(3, "c"))]).isDone)
    }

    @Test("many threads write, and both stores end equal", arguments: WriteOrder.allCases)
    func manyThreads(order: WriteOrder) async throws {
        let writer = try writer(order)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for step in 0..<10 {
                        try writer.write([.upsert(person(step % 5, "\(lane) \(step)")), .delete(id((step + 2) % 5))])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(old.all == new.all)
        #expect(old.batches == new.batches)
    }

    #if Zoo
        @Test("mistake: a lost entry leaves the stores different after a restart")
        func lostEntry() throws {
            try PlantedMistake.$inTest.withValue(.outboxEntryLost) {
                let writer = try writer()
                new.fail([.planted])
                _ = try writer.write([.upsert(person(1, "a"))])
            }
            _ = try place.writer(old, new)
            #expect(old.all != new.all)
        }

        @Test("mistake: a wrong order leaves an older record over a newer one")
        func wrongOrder() throws {
            let writer = try writer()
            try PlantedMistake.$inTest.withValue(.waitingOrder) {
                new.fail([.planted])
                _ = try writer.write([.upsert(person(1, "first"))])
                _ = try writer.write([.upsert(person(1, "second"))])
            }
            #expect(new.batches.map { $0.first } == [.upsert(person(1, "second"))])
        }
    #endif
}
