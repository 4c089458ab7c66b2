import Measuring
import Strata
import Testing

/// A table whose rows each observe their object once took ten seconds to appear with 8 000 rows; looking up 4 000
/// sections by key took twelve. Each step scanned all earlier ones.
@Suite struct ManyObserverTests {
    private func realm(_ count: Int, in file: TemporaryFile) throws -> Realm {
        let realm = try Realm(configuration: file.configuration([Counter.self]))
        try realm.write { for id in 0..<count { realm.add(Counter(id, "name \(id)")) } }
        return realm
    }

    @Test("one observer per object, some removed again, each notified of its own changes") func observers() throws {
        let growth = try ProcessorTime.growth(from: 1_000, to: 8_000, observe)
        #expect(growth < 3, "an observer among 8 000 costs \(growth) times what one among 1 000 does")
    }

    private func observe(count: Int) throws {
        let file = TemporaryFile()
        let realm = try realm(count, in: file)
        var told = 0
        var tokens: [NotificationToken] = []
        for counter in realm.objects(Counter.self) {
            tokens.append(counter.observe { _ in told += 1 })
            // A reused row releases its token and gets another one.
            if counter.id % 3 == 0 { tokens.removeLast().invalidate() }
        }
        try realm.write { for counter in realm.objects(Counter.self).where({ $0.id < 30 }) { counter.count = 1 } }
        #expect(told == 20)
        for token in tokens { token.invalidate() }
        try realm.write { for counter in realm.objects(Counter.self).where({ $0.id < 30 }) { counter.count = 2 } }
        #expect(told == 20)
    }

    @Test("each section by its key") func sections() throws {
        let growth = try ProcessorTime.growth(from: 1_000, to: 8_000, lookUpSections)
        #expect(growth < 3, "a section among 8 000 costs \(growth) times what one among 1 000 does")
    }

    private func lookUpSections(count: Int) throws {
        let file = TemporaryFile()
        let realm = try realm(count, in: file)
        let sections = realm.objects(Counter.self).sectioned(by: \.name)
        for id in 0..<count {
            let section = try #require(sections.section(for: "name \(id)"))
            if section.first?.id != id || section.count != 1 { Issue.record("section \(id) is \(section)") }
        }
        #expect(sections.section(for: "nothing") == nil && sections.freeze().section(for: "name 7")?.first?.id == 7)
        try realm.write { realm.delete(realm.objects(Counter.self).where { $0.id == 5 }) }
        #expect(sections.section(for: "name 5") == nil && sections.section(for: "name 6")?.first?.id == 6)
    }
}
