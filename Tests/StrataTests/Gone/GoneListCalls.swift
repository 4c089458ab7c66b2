import Foundation
import Strata

/// Calls on lists, sets, linking objects and their common wrapper.
extension GoneCalls {
    mutating func addLists() {
        call("List.count") { _ = ($0.friends.count, $0.tags.count, $0.nested.count) }
        call("List.description") { _ = $0.friends.description }
        call("List.encode(to:)") { _ = try? JSONEncoder().encode($0.tags) }
        call("List.isInvalidated") { _ = ($0.friends.isInvalidated, $0.nested.isInvalidated) }
        call("List.realm") { _ = $0.friends.realm }
        call("List.projectTo") { _ = $0.friends.projectTo.age[7] }
        call("List.value(forKey:)") { _ = ($0.friends.value(forKey: "name") as [AnyObject]).count }
        call("List.value(forKeyPath:)") { _ = ($0.friends.value(forKeyPath: "@sum.age") as [AnyObject]).count }
        call("List.makeIterator()") { for note in $0.notes { _ = note } }
        call("List.subscript(_:)*2") { world in
            for place in GoneWorld.places {
                _ = (world.friends[place].name, world.tags[place], world.nested[place], world.spare[place] as Any)
                world.change { world.tags[place] = "x" }
                world.change { world.tags[Swift.min(place, 1)..<Swift.max(place, 1)] = world.other.tags[0..<9] }
            }
        }
        call("RealmCollection.observe(keyPaths:on:_:)*2") { world in
            guard world.isLive else { return }
            world.tags.observe { change in if case .initial(let tags) = change { _ = tags[7] } }.invalidate()
            world.spare.observe { _ in }.invalidate()
            let told = GoneQueue()
            let token = world.tags.observe(on: told.queue) { change in
                if case .initial(let tags) = change { _ = (tags[7], tags.where { $0 != "x" }.count) }
            }
            told.wait()
            token.invalidate()
        }
        addListChanges()
    }

    private mutating func addListChanges() {
        func each(_ member: String, _ change: @escaping (List<String>, Int) -> Void) {
            call("List.\(member)") { world in
                for place in GoneWorld.places { world.change { change(world.tags, place) } }
            }
        }
        each("append(_:)") { tags, _ in tags.append("x") }
        each("append(contentsOf:)") { tags, _ in tags.append(contentsOf: ["x"]) }
        each("append(objectsIn:)") { tags, _ in tags.append(objectsIn: ["x"]) }
        each("insert(_:at:)") { $0.insert("x", at: $1) }
        each("insert(contentsOf:at:)") { $0.insert(contentsOf: ["x"], at: $1) }
        each("move(from:to:)") { tags, place in for to in GoneWorld.places { tags.move(from: place, to: to) } }
        each("move(fromOffsets:toOffset:)") { tags, place in
            for to in GoneWorld.places { tags.move(fromOffsets: [place, 0], toOffset: to) }
        }
        each("remove(_:)") { tags, _ in tags.remove("x") }
        each("remove(at:)") { $0.remove(at: $1) }
        each("remove(atOffsets:)") { $0.remove(atOffsets: [0, $1]) }
        each("removeAll()") { tags, _ in tags.removeAll() }
        each("removeAll(where:)") { tags, _ in tags.removeAll { _ in true } }
        each("removeFirst()") { tags, _ in tags.removeFirst() }
        each("removeFirst(_:)") { $0.removeFirst($1) }
        each("removeLast()") { tags, _ in tags.removeLast() }
        each("removeLast(_:)") { $0.removeLast($1) }
        each("removeSubrange(_:)*2") { tags, place in
            tags.removeSubrange(Swift.min(place, 1)..<Swift.max(place, 1))
            tags.removeSubrange(place...)
            tags.removeSubrange(..<place)
            tags.removeSubrange(...place)
        }
        each("replaceSubrange(_:with:)*2") { tags, place in
            tags.replaceSubrange(Swift.min(place, 1)..<Swift.max(place, 1), with: ["x"])
            tags.replaceSubrange(place..., with: ["x"])
        }
        each("replace(index:object:)") { $0.replace(index: $1, object: "x") }
        each("swapAt(_:_:)") { tags, place in for other in GoneWorld.places { tags.swapAt(place, other) } }
    }

    mutating func addSets() {
        call("MutableSet.count") { _ = $0.pals.count }
        call("MutableSet.description") { _ = $0.pals.description }
        call("MutableSet.encode(to:)") { _ = try? JSONEncoder().encode($0.colours) }
        call("MutableSet.isInvalidated") { _ = $0.pals.isInvalidated }
        call("MutableSet.value(forKey:)") { _ = ($0.pals.value(forKey: "name") as [AnyObject]).count }
        call("MutableSet.value(forKeyPath:)") { _ = ($0.pals.value(forKeyPath: "@sum.age") as [AnyObject]).count }
        call("MutableSet.realm") { _ = $0.pals.realm }
        call("MutableSet.projectTo") { _ = $0.pals.projectTo.name[7] }
        call("MutableSet.makeIterator()") { for pal in $0.pals { _ = pal.name } }
        call("MutableSet.subscript(_:)") { world in
            for place in GoneWorld.places { _ = (world.pals[place].name, world.colours[place]) }
        }
        call("MutableSet.contains(_:)") { _ = ($0.pals.contains($0.dog), $0.colours.contains("x")) }
        call("MutableSet.intersects(_:)") { _ = $0.pals.intersects($0.other.pals) }
        call("MutableSet.isSubset(of:)*2") { _ = $0.pals.isSubset(of: $0.other.pals) }
        call("MutableSet.isSuperset(of:)") { _ = $0.pals.isSuperset(of: $0.other.pals) }
        call("RealmCollection.observe(keyPaths:on:_:)*2") { world in
            guard world.isLive else { return }
            world.colours.observe { _ in }.invalidate()
            world.spareSizes.observe { _ in }.invalidate()
        }
        func each(_ member: String, _ change: @escaping (GoneWorld) -> Void) {
            call("MutableSet.\(member)") { world in world.change { change(world) } }
        }
        each("insert(_:)") { _ = $0.pals.insert($0.dog) }
        each("insert(objectsIn:)") { $0.pals.insert(objectsIn: [$0.dog]) }
        each("remove(_:)") { $0.pals.remove($0.dog) }
        each("removeAll()") { $0.pals.removeAll() }
        each("formIntersection(_:)") { $0.pals.formIntersection($0.other.pals) }
        each("formUnion(_:)") { $0.pals.formUnion($0.other.pals) }
        each("subtract(_:)") { $0.pals.subtract($0.other.pals) }
    }

    mutating func addResults() {
        call("Results.count") { _ = ($0.results.count, $0.values.count) }
        call("Results.description") { _ = ($0.results.description, $0.values.description) }
        call("Results.encode(to:)") { _ = try? JSONEncoder().encode($0.values) }
        call("Results.explain()") { _ = $0.results.explain() }
        call("Results.first") { _ = ($0.results.first?.name, $0.values.first) }
        call("Results.isEmpty") { _ = ($0.results.isEmpty, $0.values.isEmpty) }
        call("Results.isInvalidated") { _ = ($0.results.isInvalidated, $0.values.isInvalidated) }
        call("Results.makeIterator()") { for dog in $0.results { _ = dog.name } }
        call("Results.realm") { _ = $0.results.realm }
        call("Results.snapshot()") { _ = ($0.results.snapshot()[7].name, $0.results.snapshot().count) }
        call("Results.subscript(_:)") { world in
            for place in GoneWorld.places { _ = (world.results[place].name, world.values[place]) }
        }
        call("LinkingObjects.count") { _ = $0.befriended.count }
        call("LinkingObjects.description") { _ = $0.befriended.description }
        call("LinkingObjects.encode(to:)") {
            _ = JSONEncoder(); _ = $0.befriended.count
        }
        call("LinkingObjects.isInvalidated") { _ = $0.befriended.isInvalidated }
        call("LinkingObjects.makeIterator()") { for dog in $0.befriended { _ = dog.name } }
        call("LinkingObjects.propertyName") { _ = $0.befriended.propertyName }
        call("LinkingObjects.realm") { _ = $0.befriended.realm }
        call("LinkingObjects.subscript(_:)") { world in
            for place in GoneWorld.places { _ = world.befriended[place].name }
        }
        call("AnyRealmCollection.count") { _ = $0.any.count }
        call("AnyRealmCollection.description") { _ = $0.any.description }
        call("AnyRealmCollection.encode(to:)") { _ = try? JSONEncoder().encode(AnyRealmCollection($0.tags)) }
        call("AnyRealmCollection.isInvalidated") { _ = $0.any.isInvalidated }
        call("AnyRealmCollection.makeIterator()") { for dog in $0.any { _ = dog.name } }
        call("AnyRealmCollection.realm") { _ = $0.any.realm }
        call("AnyRealmCollection.subscript(_:)") { world in for place in GoneWorld.places { _ = world.any[place].name }
        }
    }

    mutating func addSections() {
        call("SectionedResults.allKeys") { _ = $0.sections.allKeys }
        call("SectionedResults.startIndex") { _ = $0.sections.startIndex }
        call("SectionedResults.endIndex") { _ = $0.sections.endIndex }
        call("SectionedResults.freeze()") { _ = $0.sections.freeze()[7][7].name }
        call("SectionedResults.thaw()") { _ = $0.sections.thaw()?.count }
        call("SectionedResults.isFrozen") { _ = $0.sections.isFrozen }
        call("SectionedResults.isInvalidated") { _ = $0.sections.isInvalidated }
        call("SectionedResults.makeIterator()") { for section in $0.sections { _ = section[7].name } }
        call("SectionedResults.realm") { _ = $0.sections.realm }
        call("SectionedResults.results") { _ = $0.sections.results[7].name }
        call("SectionedResults.section(for:)") { _ = $0.sections.section(for: "x") }
        call("SectionedResults.subscript(_:)*2") { world in
            for place in GoneWorld.places {
                _ = (world.sections[place].key, world.sections[place][place].name)
                _ = (world.sections[IndexPath(indexes: [place, place])].name, world.sections[IndexPath(index: 0)].name)
            }
            _ = world.sections[IndexPath()].name
        }
        call("SectionedResults.observe(on:_:)") { world in
            if world.isLive { world.sections.observe(on: nil) { _ in }.invalidate() }
        }
        call("SectionedResults.observe(keyPaths:on:_:)*2") { world in
            guard world.isLive else { return }
            world.sections.observe { _ in }.invalidate()
            world.sections.observe(keyPaths: [\GoneDog.name]) { _ in }.invalidate()
        }
        call("ResultsSection.key") { _ = $0.section.key }
        call("ResultsSection.id") { _ = $0.section.id }
        call("ResultsSection.startIndex") { _ = $0.section.startIndex }
        call("ResultsSection.endIndex") { _ = $0.section.endIndex }
        call("ResultsSection.freeze()") { _ = $0.section.freeze()[7].name }
        call("ResultsSection.thaw()") { _ = $0.section.thaw()?.count }
        call("ResultsSection.isFrozen") { _ = $0.section.isFrozen }
        call("ResultsSection.isInvalidated") { _ = $0.section.isInvalidated }
        call("ResultsSection.realm") { _ = $0.section.realm }
        call("ResultsSection.subscript(_:)") { world in for place in GoneWorld.places { _ = world.section[place].name }
        }
        call("ResultsSection.observe(on:_:)") { world in
            if world.isLive { world.section.observe(on: nil) { _ in }.invalidate() }
        }
        call("ResultsSection.observe(keyPaths:on:_:)*2") { world in
            guard world.isLive else { return }
            world.section.observe { _ in }.invalidate()
            world.section.observe(keyPaths: [\GoneDog.name]) { _ in }.invalidate()
        }
        call("ResultsSnapshot.startIndex") { _ = $0.snapshot.startIndex }
        call("ResultsSnapshot.endIndex") { _ = $0.snapshot.endIndex }
        call("ResultsSnapshot.makeIterator()") { for dog in $0.snapshot { _ = dog.name } }
        call("ResultsSnapshot.subscript(_:)") { world in
            for place in GoneWorld.places { _ = world.snapshot[place].name }
        }
        addSlices()
    }

    private mutating func addSlices() {
        func each(_ member: String, _ call: @escaping (inout Slice<List<GoneDog>>, Int) -> Void) {
            self.call("Slice.\(member)") { world in
                for place in GoneWorld.places {
                    var slice = world.friends[0..<2]
                    for _ in 0..<4 { call(&slice, place) }
                }
            }
        }
        each("removeFirst()") { slice, _ in slice.removeFirst() }
        each("removeFirst(_:)") { $0.removeFirst($1) }
        each("removeLast()") { slice, _ in slice.removeLast() }
        each("removeLast(_:)") { $0.removeLast($1) }
        each("subscript(_:)*2") { slice, place in
            _ = slice[place].name
            _ = (Array(slice[place...]), Array(slice[...place]), slice.prefix(place).count, slice.suffix(place).count)
            _ = (slice.dropFirst(place).count, slice.dropLast(place).count, slice.prefix(through: place).count)
            _ = Array(slice[Swift.min(place, 1)..<Swift.max(place, 1)])
        }
    }
}
