import Foundation
import Strata
import Testing

/// A Realm is confined to an actor or a queue: its objects are used only there.
@Suite struct PlaceTests {
    private let file = TemporaryFile()

    /// An actor with its own Realm, to which other tasks pass objects.
    private actor Shop {
        let configuration: Realm.Configuration
        var realm: Realm?

        init(_ configuration: Realm.Configuration) { self.configuration = configuration }

        func open() async throws { realm = try await Realm.open(configuration: configuration) }

        /// - Returns: whether the received object belongs to this actor's Realm, also after a suspension.
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

    /// The received object once belonged to a thread of the pool: a write ended the program, and after the next `await`
    /// the thread was another one.
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
