import Foundation
import Strata
import Testing

/// Where a Realm lives is where its objects are used: an actor's stay the actor's, a queue's are opened on the queue.
@Suite struct PlaceTests {
    private let file = TemporaryFile()

    /// An actor with a Realm of its own, which other tasks pass objects to.
    private actor Shop {
        let configuration: Realm.Configuration
        var realm: Realm?

        init(_ configuration: Realm.Configuration) { self.configuration = configuration }

        func open() async throws { realm = try await Realm.open(configuration: configuration) }

        /// - Returns: whether what comes is of this actor's Realm, also behind a suspension.
        func take(_ box: ThreadSafe<Counter>, _ frozen: Counter) async throws -> [Bool] {
            guard let realm else { return [] }
            let first = [
                box.wrappedValue?.realm == realm, frozen.thaw()?.realm == realm,
                frozen.realm?.thaw() == realm,
            ]
            await Task.yield()
            try await realm.asyncWrite {
                box.wrappedValue?.name = "by the actor"
                frozen.thaw()?.count += 1
            }
            return first + [box.wrappedValue?.realm == realm, box.wrappedValue?.name == "by the actor"]
        }
    }

    /// What came belonged to a thread of the pool: the write ended the program, and behind the next `await` the thread
    /// was another one.
    @Test("@ThreadSafe and thaw() on an actor give objects of the actor's Realm")
    func actorsRealm() async throws {
        let configuration = file.configuration([Counter.self])
        let shop = Shop(configuration)
        try await shop.open()
        let (box, frozen): (ThreadSafe<Counter>, Counter) = try {
            let realm = try Realm(configuration: configuration)
            let counter = Counter(1)
            try realm.write { realm.add(counter) }
            return (ThreadSafe(wrappedValue: counter), counter.freeze())
        }()
        let answers = try await shop.take(box, frozen)
        #expect(answers == [true, true, true, true, true])
        let realm = try Realm(configuration: configuration)
        #expect(realm.object(ofType: Counter.self, forPrimaryKey: 1)?.count == 1)
    }

    @Test("a Realm for a queue, opened elsewhere, is an error that names the queue")
    func queue() throws {
        let configuration = file.configuration([Counter.self])
        let queue = DispatchQueue(label: "org.example.shelf")
        for _ in 0..<2 {
            let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration, queue: queue) }
            #expect(error?.code == .incorrectThread && error?.message.contains("org.example.shelf") == true)
            try queue.sync { _ = try Realm(configuration: configuration, queue: queue) }
        }
        let other = DispatchQueue(label: "org.example.other")
        other.sync {
            _ = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration, queue: queue) }
        }
    }
}
