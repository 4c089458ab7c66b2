import Foundation
import Strata

/// Calls on maps.
extension GoneCalls {
    mutating func addMaps() {
        call("Map.count") { _ = $0.kennels.count }
        call("Map.isEmpty") { _ = $0.kennels.isEmpty }
        call("Map.isFrozen") { _ = $0.kennels.isFrozen }
        call("Map.isInvalidated") { _ = $0.kennels.isInvalidated }
        call("Map.description") { _ = $0.kennels.description }
        call("Map.encode(to:)") { _ = try? JSONEncoder().encode($0.counts) }
        call("Map.realm") { _ = $0.kennels.realm }
        call("Map.keys") { _ = $0.kennels.keys }
        call("Map.values") { _ = $0.kennels.values }
        call("Map.makeIterator()") { for entry in $0.kennels { _ = entry.value?.name } }
        call("Map.asKeyValueSequence()") { for entry in $0.kennels.asKeyValueSequence() { _ = entry.key } }
        call("Map.contains(_:)") { _ = $0.counts.contains((key: "x", value: 1)) }
        call("Map.contains(key:)") { _ = $0.counts.contains(key: "x") }
        call("Map.subscript(_:)") { _ = ($0.kennels["k0"] as Any, $0.counts["nope"] as Any) }
        call("Map.subscript(_:default:)") { _ = $0.counts["nope", default: 3] }
        call("Map.value(forKey:)") { _ = $0.counts.value(forKey: "x") }
        call("Map.object(forKey:)") { _ = $0.counts.object(forKey: "x") }
        call("Map.freeze()") { world in
            let frozen = world.kennels.freeze()
            _ = (frozen.count, frozen["k0"] as Any, frozen.isInvalidated, frozen.where { $0.age > 1 }.count)
        }
        call("Map.thaw()") { _ = $0.kennels.thaw()?.count }
        call("Map.where(_:)*2") { _ = ($0.kennels.where { $0.age > 1 }.count, $0.counts.where { $0 > 1 }[7]) }
        call("Map.filter(_:_:)*2") { _ = ($0.kennels.filter("age > 1").count, $0.counts.filter("SELF > 1")[7]) }
        call("Map.sorted(ascending:)") { _ = $0.counts.sorted()[7] }
        call("Map.sorted(by:)") { _ = $0.kennels.sorted(by: [SortDescriptor(keyPath: "name")])[7]?.name }
        call("Map.sorted(by:ascending:)") { _ = $0.kennels.sorted(by: \GoneDog.name).count }
        call("Map.sorted(byKeyPath:ascending:)") { _ = $0.kennels.sorted(byKeyPath: "name").count }
        addTotals()
        addMapChanges()
        addMapObservers()
    }

    private mutating func addTotals() {
        call("Map.min()") { _ = $0.counts.min() }
        call("Map.max()") { _ = $0.counts.max() }
        call("Map.sum()") { _ = $0.counts.sum() }
        call("Map.average()*2") { _ = $0.counts.average() as Int? }
        call("Map.min(of:)") { _ = $0.kennels.min(of: \GoneDog.age) }
        call("Map.max(of:)") { _ = $0.kennels.max(of: \GoneDog.age) }
        call("Map.sum(of:)") { _ = $0.kennels.sum(of: \GoneDog.age) }
        call("Map.average(of:)*2") { _ = $0.kennels.average(of: \GoneDog.age) as Double? }
        call("Map.min(ofProperty:)") { _ = $0.kennels.min(ofProperty: "age") as Int? }
        call("Map.max(ofProperty:)") { _ = $0.kennels.max(ofProperty: "age") as Int? }
        call("Map.sum(ofProperty:)") { _ = $0.kennels.sum(ofProperty: "age") as Int }
        call("Map.average(ofProperty:)") { _ = $0.kennels.average(ofProperty: "age") as Double? }
    }

    private mutating func addMapChanges() {
        func each(_ member: String, _ change: @escaping (GoneWorld) -> Void) {
            call("Map.\(member)") { world in world.change { change(world) } }
        }
        each("subscript(_:)") { $0.kennels["z"] = .some($0.dog) }
        each("merge(_:uniquingKeysWith:)") { $0.counts.merge($0.other.counts) { $1 } }
        each("removeAll()") { $0.kennels.removeAll() }
        each("removeAll(where:)") { $0.kennels.removeAll { _ in true } }
        each("removeObject(for:)") { $0.kennels.removeObject(for: "k0") }
        each("removeValue(forKey:)") { $0.kennels.removeValue(forKey: "k0") }
        each("setValue(_:forKey:)") { $0.counts.setValue(3, forKey: "x") }
        each("updateValue(_:forKey:)") { $0.counts.updateValue(3, forKey: "x") }
    }

    private mutating func addMapObservers() {
        call("Map.observe(keyPaths:on:_:)") { world in
            guard world.isLive else { return }
            world.kennels.observe { change in if case .initial(let map) = change { _ = map["k0"] } }.invalidate()
            let told = GoneQueue()
            let token = world.kennels.observe(on: told.queue) { change in
                if case .initial(let map) = change { _ = map.where { $0.age > 1 }.count }
            }
            told.wait()
            token.invalidate()
        }
        call("Map.observe(keyPaths:on:isolation:_:)*2") { world in
            guard world.isLive else { return }
            await world.kennels.observe(on: GonePlace()) { _, change in
                if case .initial(let map) = change { _ = map.where { $0.age > 1 }.count }
            }.invalidate()
            await world.kennels.observe(keyPaths: [\GoneDog.name], on: GonePlace()) { _, _ in }.invalidate()
        }
    }
}
