import Foundation
import Strata

/// Calls on maps.
@MainActor
enum GoneMapCalls {
    static func addMaps(to calls: inout GoneCalls) {
        calls.call("Map.count") { _ = $0.kennels.count }
        calls.call("Map.isEmpty") { _ = $0.kennels.isEmpty }
        calls.call("Map.isFrozen") { _ = $0.kennels.isFrozen }
        calls.call("Map.isInvalidated") { _ = $0.kennels.isInvalidated }
        calls.call("Map.description") { _ = $0.kennels.description }
        calls.call("Map.encode(to:)") { _ = try? JSONEncoder().encode($0.counts) }
        calls.call("Map.realm") { _ = $0.kennels.realm }
        calls.call("Map.keys") { _ = $0.kennels.keys }
        calls.call("Map.values") { _ = $0.kennels.values }
        calls.call("Map.makeIterator()") { for entry in $0.kennels { _ = entry.value?.name } }
        calls.call("Map.asKeyValueSequence()") { for entry in $0.kennels.asKeyValueSequence() { _ = entry.key } }
        calls.call("Map.contains(_:)") { _ = $0.counts.contains((key: "x", value: 1)) }
        calls.call("Map.contains(key:)") { _ = $0.counts.contains(key: "x") }
        calls.call("Map.subscript(_:)") { _ = ($0.kennels["k0"] as Any, $0.counts["nope"] as Any) }
        calls.call("Map.subscript(_:default:)") { _ = $0.counts["nope", default: 3] }
        calls.call("Map.value(forKey:)*2") { world in
            let boxed: AnyObject? = world.counts.value(forKey: "x")
            _ = (world.counts.value(forKey: "x"), boxed)
        }
        calls.call("Map.object(forKey:)*2") { world in
            let boxed: AnyObject? = world.counts.object(forKey: "x" as AnyObject)
            _ = (world.counts.object(forKey: "x"), boxed)
        }
        calls.call("Map.isEqual(_:)") { _ = $0.kennels.isEqual($0.kennels) }
        calls.call("Map.freeze()") { world in
            let frozen = world.kennels.freeze()
            _ = (frozen.count, frozen["k0"] as Any, frozen.isInvalidated, frozen.where { $0.age > 1 }.count)
        }
        calls.call("Map.thaw()") { _ = $0.kennels.thaw()?.count }
        calls.call("Map.where(_:)") { _ = ($0.kennels.where { $0.age > 1 }.count, $0.counts.where { $0 > 1 }[7]) }
        calls.call("Map.filter(_:_:)") { _ = ($0.kennels.filter("age > 1").count, $0.counts.filter("SELF > 1")[7]) }
        calls.call("Map.filter(_:argumentArray:)") {
            _ = ($0.kennels.filter("age > %@", argumentArray: [1]).count, $0.counts.filter("SELF > 1")[7])
        }
        calls.call("Map.filter(_:)") { _ = $0.kennels.filter(FormatPredicate(format: "age > 1")).count }
        calls.call("Map.value(forKeyPath:)*2") { world in
            let boxed: AnyObject? = world.counts.value(forKeyPath: "@sum.self")
            _ = (world.counts.value(forKeyPath: "@sum.self"), boxed)
        }
        calls.call("Map.sorted(ascending:)") { _ = $0.counts.sorted()[7] }
        calls.call("Map.sorted(by:)") { _ = $0.kennels.sorted(by: [SortDescriptor(keyPath: "name")])[7]?.name }
        calls.call("Map.sorted(by:ascending:)") { _ = $0.kennels.sorted(by: \GoneDog.name).count }
        calls.call("Map.sorted(byKeyPath:ascending:)") { _ = $0.kennels.sorted(byKeyPath: "name").count }
        addTotals(to: &calls)
        addMapChanges(to: &calls)
        addMapObservers(to: &calls)
    }

    private static func addTotals(to calls: inout GoneCalls) {
        calls.call("Map.min()") { _ = $0.counts.min() }
        calls.call("Map.max()") { _ = $0.counts.max() }
        calls.call("Map.sum()") { _ = $0.counts.sum() }
        calls.call("Map.average()*2") { _ = $0.counts.average() as Int? }
        calls.call("Map.min(of:)") { _ = $0.kennels.min(of: \GoneDog.age) }
        calls.call("Map.max(of:)") { _ = $0.kennels.max(of: \GoneDog.age) }
        calls.call("Map.sum(of:)") { _ = $0.kennels.sum(of: \GoneDog.age) }
        calls.call("Map.average(of:)*2") { _ = $0.kennels.average(of: \GoneDog.age) as Double? }
        calls.call("Map.min(ofProperty:)") { _ = $0.kennels.min(ofProperty: "age") as Int? }
        calls.call("Map.max(ofProperty:)") { _ = $0.kennels.max(ofProperty: "age") as Int? }
        calls.call("Map.sum(ofProperty:)") { _ = $0.kennels.sum(ofProperty: "age") as Int }
        calls.call("Map.average(ofProperty:)") { _ = $0.kennels.average(ofProperty: "age") as Double? }
    }

    private static func addMapChanges(to calls: inout GoneCalls) {
        func each(_ member: String, _ change: @escaping (GoneWorld) -> Void) {
            calls.call("Map.\(member)") { world in world.change { change(world) } }
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

    private static func addMapObservers(to calls: inout GoneCalls) {
        calls.call("Map.observe(keyPaths:on:_:)") { world in
            guard world.isLive else { return }
            world.kennels.observe { change in if case .initial(let map) = change { _ = map["k0"] } }.invalidate()
            let told = GoneQueue()
            let token = world.kennels.observe(on: told.queue) { change in
                if case .initial(let map) = change { _ = map.where { $0.age > 1 }.count }
            }
            told.wait()
            token.invalidate()
        }
        calls.call("Map.observe(on:_:)") { world in
            if world.isLive { world.kennels.observe(on: nil) { _ in }.invalidate() }
        }
        calls.call("Map.observe(keyPaths:on:isolation:_:)*2") { world in
            guard world.isLive else { return }
            await world.kennels.observe(on: GonePlace()) { _, change in
                if case .initial(let map) = change { _ = map.where { $0.age > 1 }.count }
            }.invalidate()
            await world.kennels.observe(keyPaths: [\GoneDog.name], on: GonePlace()) { _, _ in }.invalidate()
        }
    }
}
