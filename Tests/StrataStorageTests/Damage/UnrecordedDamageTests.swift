import StrataFiles
import Testing

@testable import StrataStorage

/// A process once forgot a place of damage that it could not write to the record, as soon as the record changed. The
/// register then accepted writes again, though no program had acknowledged the place.
@Suite struct UnrecordedDamageTests {
    private let files = RefusingFileSystem()

    /// Makes the register of one more process that opens the store.
    private func register() -> DamageRegister {
        DamageRegister(
            path: "store", storeID: RandomID(1, 2), options: StoreOptions(fileSystem: files), processes: nil)
    }

    private static func place(_ page: Int) -> DamagedPlace {
        DamagedPlace(table: TableID(1), loss: .unknown, page: PageNumber(UInt32(page)), reason: .checksum)
    }

    private func pages(_ register: DamageRegister) -> [UInt32] { register.places.map(\.place.page.rawValue) }

    @Test("a place for which the record has no room refuses writes until it is acknowledged") func noRoom() {
        let damage = register()
        let recorded = (1...DamageRecord.limit).map(Self.place)
        damage.note(recorded)
        damage.acknowledge()
        #expect(damage.takeUntold().count == recorded.count && !damage.refusesWrites)
        let further = Self.place(recorded.count + 1)
        damage.note([further])
        #expect(damage.refusesWrites && !damage.isAcknowledged(further))
        #expect(damage.takeUntold() == [further])
        #expect(damage.places.last?.place == further)
        damage.acknowledge()
        #expect(!damage.refusesWrites && damage.isAcknowledged(further))
        // A process that opens the store later reads the places that the record has room for, all acknowledged.
        let later = register()
        #expect(later.places.count == recorded.count && !later.refusesWrites)
    }

    @Test("the register keeps a place that it could not record, and records it with the next one") func refusedOnce() {
        let damage = register()
        files.hasNoDescriptors.store(true, ordering: .relaxed)
        damage.note([Self.place(7)])
        #expect(damage.refusesWrites)
        files.hasNoDescriptors.store(false, ordering: .relaxed)
        #expect(register().places.isEmpty)
        damage.note([Self.place(8)])
        #expect(pages(damage) == [7, 8] && damage.refusesWrites)
        #expect(damage.takeUntold().count == 2)
        #expect(pages(register()) == [7, 8])
    }

    /// Another process records and acknowledges a place of its own, so this process has to read the record again.
    @Test("an acknowledgement by another process covers only places in the record") func foreignAcknowledgement() {
        let damage = register()
        files.hasNoDescriptors.store(true, ordering: .relaxed)
        damage.note([Self.place(7)])
        files.hasNoDescriptors.store(false, ordering: .relaxed)
        let other = register()
        other.note([Self.place(8)])
        other.acknowledge()
        #expect(!other.refusesWrites)
        damage.note([Self.place(9)])
        #expect(damage.refusesWrites && !damage.isAcknowledged(Self.place(7)))
        #expect(damage.isAcknowledged(Self.place(8)))
        damage.acknowledge()
        #expect(!damage.refusesWrites && damage.places.allSatisfy(\.isAcknowledged))
        #expect(Set(pages(register())) == [7, 8, 9] && !register().refusesWrites)
    }

    @Test("an acknowledgement that the process could not record holds in this process") func acknowledgedHere() {
        let damage = register()
        damage.note([Self.place(7)])
        files.hasNoDescriptors.store(true, ordering: .relaxed)
        damage.acknowledge()
        #expect(!damage.refusesWrites)
        files.hasNoDescriptors.store(false, ordering: .relaxed)
        damage.note([Self.place(8)])
        #expect(damage.isAcknowledged(Self.place(7)) && !damage.isAcknowledged(Self.place(8)))
        #expect(damage.refusesWrites && register().refusesWrites)
    }
}
