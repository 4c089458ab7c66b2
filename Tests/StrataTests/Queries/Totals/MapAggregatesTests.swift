import Strata
import Testing

@Suite struct MapAggregatesTests {
    final class Store: Object {
        @Persisted var stock: Map<String, Int>
        @Persisted var prices: Map<String, Decimal128>
        @Persisted var goods: Map<String, Good?>
    }
    final class Good: Object {
        @Persisted var name = ""
        @Persisted var weight = 0.0
    }

    @Test("values of maps, and properties of their objects, are aggregated", arguments: [false, true])
    func valuesAreAggregated(managed: Bool) throws {
        let realm = try makeRealm([Store.self])
        let goods: [String: [String: Any]] = ["p": ["name": "z", "weight": 2.5], "q": ["name": "y", "weight": 1.5]]
        let values: [String: Any] = [
            "stock": ["a": 3, "b": 1, "c": 2], "prices": ["x": "0.1", "y": "0.2"], "goods": goods,
        ]
        let store = Store(value: values)
        store.goods["none"] = .some(nil)
        if managed { try realm.write { realm.add(store) } }
        #expect(
            store.stock.min() == 1 && store.stock.max() == 3 && store.stock.sum() == 6 && store.stock.average() == 2)
        #expect(store.prices.sum() == "0.3" && store.prices.average() == "0.15" && store.prices.max() == "0.2")
        #expect(store.goods.sum(of: \.weight) == 4 && store.goods.average(of: \.weight) == 2)
        #expect(store.goods.min(of: \.weight) == 1.5 && store.goods.max(ofProperty: "weight") == 2.5)
        let empty = Store()
        #expect(empty.stock.min() == nil && empty.stock.sum() == 0 && empty.stock.average() == nil)
        #expect(empty.goods.max(of: \.weight) == nil)
        guard managed else { return }
        let ascending = store.stock.sorted()
        #expect(Array(ascending) == [1, 2, 3] && Array(store.stock.sorted(ascending: false)) == [3, 2, 1])
        #expect(store.goods.sorted(byKeyPath: "name").map { $0?.name } == ["y", "z"])
        #expect(store.goods.sorted(by: \.weight, ascending: false).map { $0?.name } == ["z", "y"])
        try realm.write { store.stock["d"] = 0 }
        #expect(Array(ascending) == [0, 1, 2, 3])
    }

    private actor Listener {
        var told: [String] = []
        func note(_ text: String) { told.append(text) }

        func listen(_ configuration: Realm.Configuration) async throws -> [String] {
            let realm = try await Realm.open(configuration: configuration)
            guard let store = realm.objects(Store.self).first else { return [] }
            let token = await store.stock.observe(on: self) { listener, change in
                switch change {
                case .initial(let map): listener.note("initial \(map.keys)")
                case .update(_, let deletions, let insertions, let modifications):
                    listener.note("\(deletions) \(insertions) \(modifications)")
                case .error(let error): listener.note("\(error)")
                }
            }
            try realm.write {
                store.stock["a"] = nil
                store.stock["b"] = 2
                store.stock["z"] = 9
            }
            withExtendedLifetime(token) {}
            return told
        }
    }

    private actor Watcher {
        private(set) var told: [[String]] = []

        /// - Returns: whether the token of a cancelled task kept an observer.
        func watch(_ configuration: Realm.Configuration) async throws -> Bool {
            let realm = try await Realm.open(configuration: configuration)
            guard let store = realm.objects(Store.self).first else { return true }
            let token = await store.goods.observe(keyPaths: [\Good.weight], on: self) { watcher, change in
                if case .update(_, _, _, let modifications) = change { watcher.note(modifications) }
            }
            let good = store.goods["p"] ?? nil
            try realm.write { good?.name = "n" }
            try realm.write { good?.weight = 7 }
            withUnsafeCurrentTask { $0?.cancel() }
            let late = await store.stock.observe(on: self) { watcher, _ in watcher.note(["late"]) }
            withExtendedLifetime(token) {}
            return late.invalidate()
        }

        private func note(_ keys: [String]) { told.append(keys) }
    }

    @Test("an actor is notified of key paths only, and never by a cancelled task")
    func actorOfKeyPaths() async throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Store.self])
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.create(Store.self, value: ["goods": ["p": ["name": "z"]]]) }
        }
        let watcher = Watcher()
        // In its own task, since cancelling the test's task would end the test.
        let wasKept = try await Task { try await watcher.watch(configuration) }.value
        #expect(!wasKept)
        #expect(await watcher.told == [["p"]])
    }

    @Test("an actor is notified of a map and of its changes")
    func actorOfAMap() async throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Store.self])
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.create(Store.self, value: ["stock": ["a": 1, "b": 1]]) }
        }
        let told = try await Listener().listen(configuration)
        #expect(told == ["initial [\"a\", \"b\"]", "[\"a\"] [\"z\"] [\"b\"]"])
    }
}
