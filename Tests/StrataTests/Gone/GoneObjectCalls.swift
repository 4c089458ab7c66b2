import Foundation
import Strata

/// Calls on objects, by type and by name, and on projections of them.
extension GoneCalls {
    mutating func addObjects() {
        call("ObjectBase.description") { _ = $0.dog.description }
        call("ObjectBase.hash(into:)") { _ = Set([$0.dog, $0.dog]).count }
        call("ObjectBase.isFrozen") { _ = $0.dog.isFrozen }
        call("ObjectBase.isInvalidated") { _ = $0.dog.isInvalidated }
        call("ObjectBase.isSameObject(as:)") { _ = $0.dog.isSameObject(as: $0.other) || $0.dog == $0.dog }
        call("ObjectBase.objectSchema") { _ = $0.dog.objectSchema.properties.count }
        call("ObjectBase.realm") { _ = $0.dog.realm }
        call("ObjectKeyIdentifiable.id") { _ = $0.dog.id }
        call("ObjectBase.subscript(_:)") { world in
            for name in ["name", "friends", "befriended", "notes", "mother", "part"] { _ = world.dog[name] }
            world.change { world.dog["name"] = "x" }
        }
        call("ObjectBase.value(forKey:)") { _ = $0.dog.value(forKey: "name") }
        call("ObjectBase.value(forKeyPath:)") { _ = $0.dog.value(forKeyPath: "mother.name") }
        call("ObjectBase.setValue(_:forKey:)") { world in world.change { world.dog.setValue("x", forKey: "name") } }
        call("ObjectBase.setValue(_:forKeyPath:)") { world in
            world.change { world.dog.setValue("x", forKeyPath: "mother.name") }
        }
        call("ObjectBase.dynamicList(_:)") { _ = $0.dog.dynamicList("friends")[7]["name"] }
        call("ObjectBase.dynamicMutableSet(_:)") { _ = $0.dog.dynamicMutableSet("pals")[7]["name"] }
        call("ObjectBase.dynamicMap(_:)") { world in
            let map: Map<String, DynamicObject?> = world.dog.dynamicMap("kennels")
            _ = (map.count, map["k0"] as Any)
        }
        call("ObjectBase.detached()") { _ = $0.dog.detached().name }
        call("ObjectBase.read(_:)") { _ = try? $0.dog.read(\.name) }
        call("ObjectBase.thaw()") { _ = $0.dog.thaw()?.name }
        call("ObjectBase.freeze()") { world in
            let frozen = world.dog.freeze()
            _ = (frozen.name, frozen.isInvalidated, frozen.friends[7].name, frozen.description, frozen.thaw()?.name)
            _ = frozen.friends.where { $0.age > 1 }.count
            _ = frozen.befriended[2].name
        }
        // Reads of properties of every kind, and changes of them.
        call("RealmProperty.value") { world in
            _ = (world.dog.weight.value, world.dog.part?.label, world.dog.mother?.name, world.dog.note, world.dog.key)
            world.change { world.dog.weight.value = 3 }
            world.change { world.dog.mother = world.other }
            world.change { world.other.mother = world.dog }
            world.change { world.other.note = .object(world.dog) }
            world.change { world.dog.tags = world.other.tags }
            world.change { world.dog.part = GonePart() }
        }
        call("RealmProperty.description") { _ = $0.dog.weight.description }
        call("RealmProperty.encode(to:)") { _ = try? JSONEncoder().encode($0.dog.weight) }
        addObjectObservers()
    }

    private mutating func addObjectObservers() {
        call("ObjectBase.observe(keyPaths:on:_:)*3") { world in
            guard world.isLive else { return }
            world.dog.observe { (_: ObjectChange<GoneDog>) in }.invalidate()
            world.dog.observe { (_: ObjectChange<ObjectBase>) in }.invalidate()
            world.dog.observe(keyPaths: [\GoneDog.name]) { _ in }.invalidate()
            let told = GoneQueue()
            let token = world.dog.observe(on: told.queue) { (_: ObjectChange<GoneDog>) in }
            told.wait()
            token.invalidate()
        }
        call("ObjectBase.observe(keyPaths:on:isolation:_:)*2") { world in
            guard world.isLive else { return }
            await world.dog.observe(on: GonePlace()) { _, _ in }.invalidate()
            await world.dog.observe(keyPaths: [\GoneDog.name], on: GonePlace()) { _, _ in }.invalidate()
        }
        call("ObjectBase.changes") { if $0.isLive { _ = $0.dog.changes.makeAsyncIterator() } }
        call("ObjectBase.changes(keyPaths:)") {
            if $0.isLive { _ = $0.dog.changes(keyPaths: ["name"]).makeAsyncIterator() }
        }
    }

    mutating func addDynamic() {
        call("DynamicObject.dynamicClassName") { _ = $0.dynamic.dynamicClassName }
        call("DynamicObject.subscript(dynamicMember:)") { world in
            _ = (world.dynamic.name, world.dynamic.friends, world.dynamic.note, world.dynamic.befriended)
            world.change { world.dynamic.name = "x" }
        }
        call("DynamicObject.tryGetValue(for:)") { _ = try? $0.dynamic.tryGetValue(for: "name") }
        call("DynamicObject.value(for:)") { _ = try? $0.dynamic.value(for: "mother", "name") }
        call("DynamicObject.value(_:as:)") { _ = try? $0.dynamic.value("name", as: String.self) }
        call("DynamicObject.set(_:to:)") { world in world.change { try world.dynamic.set("name", to: "x") } }
        call("DynamicObject.linkingObjects(ofType:property:)") {
            _ = try? $0.dynamic.linkingObjects(ofType: "GoneDog", property: "friends").count
        }
        call("ObjectBase.dynamicList(_:)") { _ = $0.dynamic.dynamicList("friends").filter("age > 1").count }
    }

    mutating func addProjections() {
        call("Projection.description") { _ = $0.view.description }
        call("Projection.hash(into:)") { _ = Set([$0.view]).count }
        call("Projection.isFrozen") { _ = $0.view.isFrozen }
        call("Projection.isInvalidated") { _ = $0.view.isInvalidated }
        call("Projection.realm") { _ = $0.view.realm }
        call("Projection.rootObject") { world in
            _ = (world.view.rootObject.name, world.view.name, world.view.friendNames[7])
            world.change { world.view.name = "x" }
        }
        call("ProjectionObservable.rootObject") { _ = $0.view.rootObject }
        call("ProjectionObservable.freeze()") { _ = $0.view.freeze().friendNames[7] }
        call("ProjectionObservable.thaw()") { _ = $0.view.thaw()?.name }
        call("ProjectionObservable.observe(keyPaths:on:_:)*2") { world in
            guard world.isLive else { return }
            world.view.observe { (_: ObjectChange<GoneView>) in }.invalidate()
            world.view.observe(keyPaths: [\GoneView.name]) { _ in }.invalidate()
        }
        call("ProjectionObservable.observe(keyPaths:on:isolation:_:)*2") { world in
            guard world.isLive else { return }
            await world.view.observe(on: GonePlace()) { _, _ in }.invalidate()
            await world.view.observe(keyPaths: [\GoneView.name], on: GonePlace()) { _, _ in }.invalidate()
        }
        call("CollectionElementMapper.subscript(dynamicMember:)") { _ = $0.friends.projectTo.name[7] }
        call("ProjectedCollection.description") { _ = $0.names.description }
        call("ProjectedCollection.startIndex") { _ = $0.names.startIndex }
        call("ProjectedCollection.endIndex") { _ = $0.names.endIndex }
        call("ProjectedCollection.freeze()") { _ = $0.names.freeze()[7] }
        call("ProjectedCollection.thaw()") { _ = $0.names.thaw()?.count }
        call("ProjectedCollection.index(of:)") { _ = $0.names.index(of: "x") }
        call("ProjectedCollection.isFrozen") { _ = $0.names.isFrozen }
        call("ProjectedCollection.isInvalidated") { _ = $0.names.isInvalidated }
        call("ProjectedCollection.makeIterator()") { for name in $0.names { _ = name } }
        call("ProjectedCollection.realm") { _ = $0.names.realm }
        call("ProjectedCollection.subscript(_:)") { world in
            for place in GoneWorld.places {
                _ = world.names[place]
                world.change { world.names[place] = "x" }
            }
        }
        call("ProjectedCollection.observe(keyPaths:on:_:)") { if $0.isLive { $0.names.observe { _ in }.invalidate() } }
        addProjectedResults()
    }

    private mutating func addProjectedResults() {
        call("Results.where(_:)") { _ = $0.views.where { $0.age > 1 }.count }
        call("Results.sorted(by:ascending:)") { _ = $0.views.sorted(by: \.name)[7].name }
        call("Results.index(of:)") { _ = $0.views.index(of: $0.view) }
        call("RealmCollection.sectioned(by:ascending:)*2") { _ = $0.views.sectioned(by: \.name)[7][7].name }
    }
}
