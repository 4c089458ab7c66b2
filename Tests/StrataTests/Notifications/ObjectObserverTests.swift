import Strata
import Testing

@Suite struct ObjectObserverTests {
    final class Lamp: Object {
        @Persisted var name = ""
        @Persisted var watts = 0
        @Persisted var room: Lamp?
        override class func propertiesMapping() -> [String: String] { ["watts": "power", "room": "in_room"] }
    }

    @Test("changes are named by property, whatever the columns' names")
    func namedByProperty() throws {
        let realm = try makeRealm([Lamp.self])
        let lamp = Lamp()
        try realm.write { realm.add(lamp) }
        var names: [[String]] = []
        let tokens = [
            lamp.observe { if case .change(_, let properties) = $0 { names.append(properties.map(\.name)) } },
            lamp.observe(keyPaths: [\.watts]) {
                if case .change(let lamp, let properties) = $0 { names.append(["\(lamp.watts)", properties[0].name]) }
            },
        ]
        try realm.write {
            lamp.watts = 40
            lamp.room = lamp
        }
        #expect(names == [["watts", "room"], ["40", "watts"]])
        withExtendedLifetime(tokens) {}
        names = []
        let behind = lamp.observe(keyPaths: ["room.name", "room.watts"]) {
            if case .change(_, let properties) = $0 { names.append(properties.map(\.name)) }
        }
        try realm.write {
            lamp.watts = 60
            lamp.name = "itself"
        }
        #expect(names.filter { $0.contains("room") } == [["room"]])
        behind.invalidate()
    }

    @Test("an object can be observed through its superclass")
    func throughASuperclass() throws {
        let realm = try makeRealm([Lamp.self])
        let lamp = Lamp()
        try realm.write { realm.add(lamp) }
        var told: [String] = []
        func hear(_ change: ObjectChange<ObjectBase>) {
            switch change {
            case .change(let object, let properties): told.append("\(object == lamp) \(properties.map(\.name))")
            case .deleted: told.append("deleted")
            case .error(let error): told.append("\(error)")
            }
        }
        let tokens = [
            lamp.observe(hear),
            lamp.observe(keyPaths: ["name"]) { (change: ObjectChange<Object>) in
                if case .change = change { told.append("by name") }
            },
        ]
        try realm.write { lamp.watts = 1 }
        try realm.write { lamp.name = "n" }
        try realm.write { realm.delete(lamp) }
        #expect(told == ["true [\"watts\"]", "true [\"name\"]", "by name", "deleted"])
        withExtendedLifetime(tokens) {}
    }

    private actor Watcher {
        var told: [String] = []
        func note(_ text: String) { told.append(text) }

        func watch(_ configuration: Realm.Configuration) async throws -> [String] {
            let realm = try await Realm.open(configuration: configuration)
            guard let lamp = realm.objects(Lamp.self).first else { return [] }
            let one = await lamp.observe(keyPaths: [\.watts], on: self) { watcher, change in
                if case .change(_, let properties) = change { watcher.note(properties.map(\.name).joined()) }
            }
            let all = await realm.objects(Lamp.self).observe(keyPaths: [\.name], on: self) { watcher, change in
                if case .update(_, _, _, let modifications) = change { watcher.note("\(modifications)") }
            }
            try realm.write { lamp.watts = 3 }
            try realm.write { lamp.name = "x" }
            withExtendedLifetime((one, all)) {}
            return told
        }
    }

    @Test("an actor is notified of changes along key paths")
    func actorAlongKeyPaths() async throws {
        let file = TemporaryFile()
        let configuration = file.configuration([Lamp.self])
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Lamp()) }
        }
        #expect(try await Watcher().watch(configuration) == ["watts", "[0]"])
    }
}
