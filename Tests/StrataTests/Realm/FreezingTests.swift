import Strata
import Testing

@Suite struct FreezingTests {
    final class Page: Object {
        @Persisted var id = 0
        @Persisted var marks: List<Int>
        @Persisted var tags: MutableSet<String>
        @Persisted var prices: Map<String, Double>
        @Persisted var links: Map<String, Page?>
    }

    private func fill(_ realm: Realm) throws -> Page {
        let page = Page()
        page.marks.append(objectsIn: [3, 1, 2])
        page.tags.insert(objectsIn: ["b", "a"])
        page.prices["x"] = 1.5
        page.links["self"] = page
        try realm.write { realm.add(page) }
        return page
    }

    @Test("lists, sets and maps of values, and their results, can be frozen and thawed")
    func collectionsAreFrozen() throws {
        let realm = try makeRealm([Page.self])
        let page = try fill(realm)
        let (marks, tags, prices) = (page.marks.freeze(), page.tags.freeze(), page.prices.freeze())
        let found = page.marks.where { $0 > 1 }.sorted(ascending: true).freeze()
        let links = page.links.freeze()
        try realm.write {
            page.marks.append(9)
            page.tags.removeAll()
            page.prices["x"] = 2
            page.id = 5
        }
        #expect(Array(marks) == [3, 1, 2] && marks.isFrozen && Array(tags) == ["a", "b"] && tags.isFrozen)
        #expect(prices["x"] == 1.5 && prices.isFrozen && Array(found) == [2, 3] && found.isFrozen)
        #expect(links["self"]??.id == 0 && links["self"]??.isFrozen == true)
        #expect(marks.thaw().map { Array($0) } == [3, 1, 2, 9] && marks.thaw()?.isFrozen == false)
        #expect(tags.thaw()?.isEmpty == true && prices.thaw()?["x"] == 2 && links.thaw()?["self"]??.id == 5)
        #expect(found.thaw().map { Array($0) } == [2, 3, 9])
        try realm.write { realm.delete(page) }
        #expect(Array(marks) == [3, 1, 2] && marks.thaw() == nil && prices.thaw() == nil && found.thaw() == nil)
    }

    @Test("thawing in an older Realm gives the frozen or a newer version")
    func thawedInAnOlderRealm() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Page.self])
        let realm = try Realm(configuration: configuration)
        let page = try fill(realm)
        let frozen = Locked<Frozen<Page>?>(nil)
        OtherThread.run {
            guard let other = try? Realm(configuration: configuration) else { return }
            let made = try? other.write { other.create(Page.self, value: ["id": 9]) }
            frozen.with { $0 = made.map { Frozen($0) } }
        }
        #expect(realm.objects(Page.self).map(\.id) == [page.id])
        #expect(frozen.current?.value.thaw()?.id == 9)
    }

    @Test("collections of values and maps go to other threads by reference")
    func otherThreads() throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Page.self])
        let realm = try Realm(configuration: configuration)
        let page = try fill(realm)
        let marks = ThreadSafeReference(to: page.marks)
        let tags = ThreadSafeReference(to: page.tags)
        let prices = ThreadSafeReference(to: page.prices)
        let found = ThreadSafeReference(to: page.marks.where { $0 < 3 })
        let gone = ThreadSafeReference(to: page.links)
        OtherThread.run {
            guard let realm = try? Realm(configuration: configuration) else { return }
            #expect(realm.resolve(marks).map { Array($0) } == [3, 1, 2])
            #expect(realm.resolve(tags).map { Array($0) } == ["a", "b"])
            #expect(realm.resolve(prices)?["x"] == 1.5 && realm.resolve(found).map { Array($0) } == [1, 2])
            try? realm.write { realm.deleteAll() }
            #expect(realm.resolve(gone) == nil)
        }
    }
}
