import Foundation
import Strata

/// Calls on objects, by type and by name, and on projections of them.
@MainActor
enum GoneObjectCalls {
    static func addObjects(to calls: inout GoneCalls) {
        calls.call("ObjectBase.description") { _ = $0.dog.description }
        calls.call("ObjectBase.hash(into:)") { _ = Set([$0.dog, $0.dog]).count }
        calls.call("ObjectBase.isFrozen") { _ = $0.dog.isFrozen }
        calls.call("ObjectBase.isInvalidated") { _ = $0.dog.isInvalidated }
        calls.call("ObjectBase.isSameObject(as:)") { _ = $0.dog.isSameObject(as: $0.other) || $0.dog == $0.dog }
        calls.call("ObjectBase.isEqual(_:)") { _ = $0.dog.isEqual($0.other) || $0.dog.isEqual($0.dog) }
        calls.call("ObjectBase.objectSchema") { _ = $0.dog.objectSchema.properties.count }
        calls.call("ObjectBase.realm") { _ = $0.dog.realm }
        calls.call("ObjectKeyIdentifiable.id") { _ = $0.dog.id }
        calls.call("ObjectBase.subscript(_:)") { world in
            for name in ["name", "friends", "befriended", "notes", "mother", "part"] { _ = world.dog[name] }
            world.change { world.dog["name"] = "x" }
        }
        calls.call("ObjectBase.value(forKey:)") { _ = $0.dog.value(forKey: "name") }
        calls.call("ObjectBase.value(forKeyPath:)") { _ = $0.dog.value(forKeyPath: "mother.name") }
        calls.call("ObjectBase.setValue(_:forKey:)") { world in world.change { world.dog.setValue("x", forKey: "name") }
        }
        calls.call("ObjectBase.setValue(_:forKeyPath:)") { world in
            world.change { world.dog.setValue("x", forKeyPath: "mother.name") }
        }
        calls.call("ObjectBase.dynamicList(_:)") { _ = $0.dog.dynamicList("friends")[7]["name"] }
        calls.call("ObjectBase.dynamicMutableSet(_:)") { _ = $0.dog.dynamicMutableSet("pals")[7]["name"] }
        calls.call("ObjectBase.dynamicMap(_:)") { world in
            let map: Map<String, DynamicObject?> = world.dog.dynamicMap("kennels")
            _ = (map.count, map["k0"] as Any)
        }
        calls.call("ObjectBase.detached()") { _ = $0.dog.detached().name }
        calls.call("ObjectBase.read(_:)") { _ = try? $0.dog.read(\.name) }
        calls.call("ObjectBase.thaw()") { _ = $0.dog.thaw()?.name }
        calls.call("ObjectBase.freeze()") { world in
            let frozen = world.dog.freeze()
            _ = (frozen.name, frozen.isInvalidated, frozen.friends[7].name, frozen.description, frozen.thaw()?.name)
            _ = frozen.friends.where { $0.age > 1 }.count
            _ = frozen.befriended[2].name
        }
        // Reads of properties of every kind, and changes of them.
        calls.call("RealmProperty.value") { world in
            _ = (world.dog.weight.value, world.dog.part?.label, world.dog.mother?.name, world.dog.note, world.dog.key)
            world.change { world.dog.weight.value = 3 }
            world.change { world.dog.mother = world.other }
            world.change { world.other.mother = world.dog }
            world.change { world.other.note = .object(world.dog) }
            world.change { world.dog.tags = world.other.tags }
            world.change { world.dog.part = GonePart() }
        }
        calls.call("RealmProperty.description") { _ = $0.dog.weight.description }
        calls.call("RealmProperty.encode(to:)") { _ = try? JSONEncoder().encode($0.dog.weight) }
        addObjectObservers(to: &calls)
    }

    private static func addObjectObservers(to calls: inout GoneCalls) {
        calls.call("ObjectBase.observe(keyPaths:on:_:)*3") { world in
            guard world.isLive else { return }
            world.dog.observe { (_: ObjectChange<GoneDog>) in }.invalidate()
            world.dog.observe { (_: ObjectChange<ObjectBase>) in }.invalidate()
            world.dog.observe(keyPaths: [\GoneDog.name]) { _ in }.invalidate()
            let told = GoneQueue()
            let token = world.dog.observe(on: told.queue) { (_: ObjectChange<GoneDog>) in }
            told.wait()
            token.invalidate()
        }
        calls.call("ObjectBase.observe(keyPaths:on:isolation:_:)*2") { world in
            guard world.isLive else { return }
            await world.dog.observe(on: GonePlace()) { _, _ in }.invalidate()
            await world.dog.observe(keyPaths: [\GoneDog.name], on: GonePlace()) { _, _ in }.invalidate()
        }
        calls.call("ObjectBase.changes") { if $0.isLive { _ = $0.dog.changes.makeAsyncIterator() } }
        calls.call("ObjectBase.changes(keyPaths:)") {
            if $0.isLive { _ = $0.dog.changes(keyPaths: ["name"]).makeAsyncIterator() }
        }
    }

    static func addDynamic(to calls: inout GoneCalls) {
        calls.call("DynamicObject.dynamicClassName") { _ = $0.dynamic.dynamicClassName }
        calls.call("DynamicObject.subscript(dynamicMember:)") { world in
            _ = (world.dynamic.name, world.dynamic.friends, world.dynamic.note, world.dynamic.befriended)
            world.change { world.dynamic.name = "x" }
        }
        calls.call("DynamicObject.tryGetValue(for:)") { _ = try? $0.dynamic.tryGetValue(for: "name") }
        calls.call("DynamicObject.value(for:)") { _ = try? $0.dynamic.value(for: "mother", "name") }
        calls.call("DynamicObject.value(_:as:)") { _ = try? $0.dynamic.value("name", as: String.self) }
        calls.call("DynamicObject.set(_:to:)") { world in world.change { try world.dynamic.set("name", to: "x") } }
        calls.call("DynamicObject.linkingObjects(ofType:property:)") {
            _ = try? $0.dynamic.linkingObjects(ofType: "GoneDog", property: "friends").count
        }
        calls.call("ObjectBase.dynamicList(_:)") { _ = $0.dynamic.dynamicList("friends").filter("age > 1").count }
    }

    static func addProjections(to calls: inout GoneCalls) {
        calls.call("Projection.description") { _ = $0.view.description }
        calls.call("Projection.hash(into:)") { _ = Set([$0.view]).count }
        calls.call("Projection.isFrozen") { _ = $0.view.isFrozen }
        calls.call("Projection.isInvalidated") { _ = $0.view.isInvalidated }
        calls.call("Projection.realm") { _ = $0.view.realm }
        calls.call("Projection.rootObject") { world in
            _ = (world.view.rootObject.name, world.view.name, world.view.friendNames[7])
            world.change { world.view.name = "x" }
        }
        calls.call("ProjectionObservable.rootObject") { _ = $0.view.rootObject }
        calls.call("ProjectionObservable.freeze()") { _ = $0.view.freeze().friendNames[7] }
        calls.call("ProjectionObservable.thaw()") { _ = $0.view.thaw()?.name }
        calls.call("ProjectionObservable.observe(keyPaths:on:_:)*2") { world in
            guard world.isLive else { return }
            world.view.observe { (_: ObjectChange<GoneView>) in }.invalidate()
            world.view.observe(keyPaths: [\GoneView.name]) { _ in }.invalidate()
        }
        calls.call("ProjectionObservable.observe(keyPaths:on:isolation:_:)*2") { world in
            guard world.isLive else { return }
            await world.view.observe(on: GonePlace()) { _, _ in }.invalidate()
            await world.view.observe(keyPaths: [\GoneView.name], on: GonePlace()) { _, _ in }.invalidate()
        }
        calls.call("CollectionElementMapper.subscript(dynamicMember:)") { _ = $0.friends.projectTo.name[7] }
        calls.call("ProjectedCollection.description") { _ = $0.names.description }
        calls.call("ProjectedCollection.startIndex") { _ = $0.names.startIndex }
        calls.call("ProjectedCollection.endIndex") { _ = $0.names.endIndex }
        calls.call("ProjectedCollection.freeze()") { _ = $0.names.freeze()[7] }
        calls.call("ProjectedCollection.thaw()") { _ = $0.names.thaw()?.count }
        calls.call("ProjectedCollection.index(of:)") { _ = $0.names.index(of: "x") }
        calls.call("ProjectedCollection.isFrozen") { _ = $0.names.isFrozen }
        calls.call("ProjectedCollection.isInvalidated") { _ = $0.names.isInvalidated }
        calls.call("ProjectedCollection.makeIterator()") { for name in $0.names { _ = name } }
        calls.call("ProjectedCollection.realm") { _ = $0.names.realm }
        calls.call("ProjectedCollection.subscript(_:)") { world in
            for place in GoneWorld.places {
                _ = world.names[place]
                world.change { world.names[place] = "x" }
            }
        }
        calls.call("ProjectedCollection.observe(keyPaths:on:_:)") {
            if $0.isLive { $0.names.observe { _ in }.invalidate() }
        }
        addProjectedResults(to: &calls)
    }

    private static func addProjectedResults(to calls: inout GoneCalls) {
        calls.call("Results.where(_:)") { _ = $0.views.where { $0.age > 1 }.count }
        calls.call("Results.sorted(by:ascending:)") { _ = $0.views.sorted(by: \.name)[7].name }
        calls.call("Results.index(of:)") { _ = $0.views.index(of: $0.view) }
        calls.call("RealmCollection.sectioned(by:ascending:)*2") { _ = $0.views.sectioned(by: \.name)[7][7].name }
    }
}
