import Foundation
import StrataFiles
import StrataStorage
import Testing

@testable import Strata

/// How a Realm's file grows and shrinks, and how long a Realm in memory lives.
@Suite struct RealmSpaceTests {
    final class Page: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var text = ""
    }

    private func fill(_ realm: Realm, _ ids: Range<Int>) throws {
        try realm.write {
            for id in ids {
                let page = Page()
                page.id = id
                page.text = String(repeating: "text \(id) ", count: 60)
                realm.add(page)
            }
        }
    }

    private func size(_ url: URL) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
    }

    @Test("policies of a configuration reach the store")
    func policiesReachTheStore() {
        var configuration = Realm.Configuration(
            growth: .fixed(1 << 24), compaction: .online(freeShare: 0.25))
        #expect(configuration.storeOptions.growth == .fixed(1 << 24))
        guard case .online(0.25) = configuration.storeOptions.compaction else {
            Issue.record("\(configuration.storeOptions.compaction)")
            return
        }
        configuration.growth = .percent(25)
        configuration.compaction = .onLaunch { total, used in total > 2 * used }
        #expect(configuration.storeOptions.growth == .percent(25))
        guard case .onLaunch(let decide) = configuration.storeOptions.compaction else {
            Issue.record("\(configuration.storeOptions.compaction)")
            return
        }
        #expect(decide(5, 2) && !decide(4, 2))
        #expect(Realm.Configuration().storeOptions.growth == .standard)
    }

    @Test("a file grows by the configured step")
    func growsByTheStep() throws {
        let file = TemporaryFile()
        var configuration = file.configuration([Page.self])
        configuration.growth = .fixed(3 << 20)
        let realm = try Realm(configuration: configuration)
        try fill(realm, 0..<10)
        #expect(try size(file.url) >= 3 << 20)
        try fill(realm, 10..<20)
        #expect(try size(file.url) < 6 << 20)
    }

    @Test("the compaction policy is asked only at the first open, with the sizes of the file")
    func compactionIsAskedOnce() throws {
        let file = TemporaryFile()
        var configuration = file.configuration([Page.self])
        do {
            let realm = try Realm(configuration: configuration)
            try fill(realm, 0..<4000)
            try realm.write { realm.delete(realm.objects(Page.self).where { $0.id > 10 && $0.id < 3990 }) }
        }
        let before = try size(file.url)
        let asked = Locked<[(Int, Int)]>([])
        configuration.compaction = .onLaunch { total, used in
            asked.with { $0.append((total, used)) }
            return true
        }
        let realm = try Realm(configuration: configuration)
        let again = try Realm(configuration: configuration)
        #expect(again.objects(Page.self).count == 21 && realm.objects(Page.self).count == 21)
        #expect(asked.current.count == 1)
        #expect(asked.current.first.map { $0.0 == before && $0.1 < $0.0 } == true)
        #expect(try size(file.url) < 1 << 20)
    }

    @Test("all Realms with one in-memory identifier share data, which lives as long as any of them")
    func sharedIdentifier() throws {
        let configuration = Realm.Configuration(inMemoryIdentifier: "space-\(UUID())", objectTypes: [Page.self])
        var results: Results<Page>?
        do {
            let realm = try Realm(configuration: configuration)
            try fill(realm, 0..<3)
            results = realm.objects(Page.self)
        }
        // Results keep their Realm.
        let other = Locked(0)
        let thread = Thread {
            let count = (try? Realm(configuration: configuration).objects(Page.self).count) ?? -1
            other.with { $0 = count }
        }
        thread.start()
        while !thread.isFinished { usleep(1000) }
        #expect(other.current == 3)
        do {
            let again = try Realm(configuration: configuration)
            try again.write { again.delete(again.objects(Page.self).where { $0.id == 0 }) }
        }
        #expect(results?.count == 2)
        results = nil
        #expect(try Realm(configuration: configuration).objects(Page.self).isEmpty)
        let different = Realm.Configuration(inMemoryIdentifier: "space-\(UUID())", objectTypes: [Page.self])
        #expect(try Realm(configuration: different).objects(Page.self).isEmpty)
    }
}
