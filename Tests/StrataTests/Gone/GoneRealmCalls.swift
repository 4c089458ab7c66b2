import Foundation
import Strata

/// Calls on the Realm with deleted objects, and on references to them from other threads.
extension GoneCalls {
    mutating func addRealm() {
        call("Realm.add(_:update:)*2") { world in
            world.change { world.realm.add(world.dog) }
            world.change { world.realm.add([world.dog], update: .modified) }
        }
        call("Realm.delete(_:)*6") { world in
            world.change { world.realm.delete(world.dog) }
            world.change { world.realm.delete([world.dog]) }
            world.change { world.realm.delete(world.results) }
            world.change { world.realm.delete(world.friends) }
            world.change { world.realm.delete(world.pals) }
            world.change { world.realm.delete(world.kennels) }
            world.change { world.realm.delete(world.friends.suffix(2)) }
        }
        call("Realm.create(_:value:update:)") { world in
            world.change { _ = world.realm.create(GoneDog.self, value: ["key": 5, "mother": world.dog]) }
            world.change { _ = world.realm.create(GoneDog.self, value: world.dog, update: .modified) }
        }
        call("Realm.dynamicCreate(_:value:update:)") { world in
            world.change { world.realm.dynamicCreate("GoneDog", value: ["key": 5, "mother": world.dog]) }
        }
        call("Realm.create(_:json:update:)") { world in
            world.change { _ = try world.realm.create(GoneDog.self, json: Data(#"{"key": 5}"#.utf8)) }
        }
        call("Realm.createAll(_:json:update:)") { world in
            world.change { _ = try world.realm.createAll(GoneDog.self, json: Data(#"[{"key": 5}]"#.utf8)) }
        }
        call("Realm.deleteAll()") { world in world.change { world.realm.deleteAll() } }
        call("Realm.objects(_:)*3") { world in
            _ = (world.realm.objects(GoneDog.self)[99].name, world.realm.objects(GoneView.self)[99].name)
        }
        call("Realm.object(ofType:forPrimaryKey:)") { _ = $0.realm.object(ofType: GoneDog.self, forPrimaryKey: 1) }
        call("Realm.dynamicObject(ofType:forPrimaryKey:)") {
            _ = $0.realm.dynamicObject(ofType: "GoneDog", forPrimaryKey: 1)
        }
        call("Realm.dynamicObjects(_:)") { _ = $0.realm.dynamicObjects("GoneDog")[99]["name"] }
        call("Realm.resolve(_:)") { world in
            _ = world.realm.resolve(world.reference)?.name
            _ = world.realm.resolve(world.listReference)?[7].name
            _ = world.realm.resolve(ThreadSafeReference(to: world.dog))
            _ = world.realm.resolve(ThreadSafeReference(to: world.befriended))
            _ = world.realm.resolve(ThreadSafeReference(to: world.counts))
            _ = world.realm.resolve(ThreadSafeReference(to: world.values))
        }
        call("Realm.observe(_:)") { $0.realm.observe { _, _ in }.invalidate() }
        call("Realm.changes") { _ = $0.realm.changes.makeAsyncIterator() }
        call("Realm.freeze()") { _ = $0.realm.freeze().objects(GoneDog.self)[99].name }
        call("Realm.thaw()") { _ = $0.realm.freeze().thaw().objects(GoneDog.self)[99].name }
        call("ThreadSafeReference.isInvalidated") { _ = ThreadSafeReference(to: $0.friends).isInvalidated }
        call("ThreadSafe.wrappedValue") { world in
            _ = world.threadSafe.wrappedValue?.name
            world.threadSafe.wrappedValue = world.dog
            _ = world.threadSafe.wrappedValue?.name
        }
        call("Frozen.value") { world in
            _ = (Frozen(world.dog).value.name, Frozen(world.friends).value.count, Frozen(world.realm).value.isEmpty)
        }
        addRealmState()
    }

    private mutating func addRealmState() {
        call("Realm.autorefresh") { _ = $0.realm.autorefresh }
        call("Realm.configuration") { _ = $0.realm.configuration }
        call("Realm.isEmpty") { _ = $0.realm.isEmpty }
        call("Realm.isFrozen") { _ = $0.realm.isFrozen }
        call("Realm.isInWriteTransaction") { _ = $0.realm.isInWriteTransaction }
        call("Realm.schema") { _ = $0.realm.schema.objectSchema.count }
        call("Realm.refresh()") { _ = $0.realm.refresh() }
        call("Realm.invalidate()") { world in
            world.realm.invalidate()
            _ = (world.dog.name, world.friends[7].name, world.friends.where { $0.age > 1 }.count)
            _ = world.realm.objects(GoneDog.self)[99].name
        }
        call("Realm.write(withoutNotifying:_:)") { world in world.change { world.dog.name = "x" } }
        call("Realm.beginWrite()") { world in
            world.realm.beginWrite()
            if world.isLive { world.dog.name = "x" }
            world.realm.cancelWrite()
        }
        call("Realm.commitWrite(withoutNotifying:)") { world in
            world.realm.beginWrite()
            if world.isLive { world.friends.append(world.other) }
            try? world.realm.commitWrite()
        }
        call("Realm.writeAsync(_:onComplete:)") { world in
            guard world.isLive else { return }
            await withCheckedContinuation { done in
                world.realm.writeAsync({ world.dog.name = "x" }, onComplete: { _ in done.resume() })
            }
        }
    }
}
