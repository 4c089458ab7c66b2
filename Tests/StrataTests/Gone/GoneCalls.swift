import Strata

/// The calls of public members on deleted objects, by member. A name ends with `*2` if a member has two forms under one
/// name, and both are called.
@MainActor
struct GoneCalls {
    typealias Call = @MainActor (GoneWorld) async throws -> Void

    private(set) var calls: [String: [Call]] = [:]

    mutating func call(_ member: String, _ call: @escaping Call) { calls[member, default: []].append(call) }

    /// The calls of every member.
    static let all: GoneCalls = {
        var all = GoneCalls()
        GoneObjectCalls.addObjects(to: &all)
        GoneObjectCalls.addDynamic(to: &all)
        GoneObjectCalls.addProjections(to: &all)
        all.addRealm()
        all.addLists()
        all.addSets()
        GoneMapCalls.addMaps(to: &all)
        all.addResults()
        all.addSections()
        all.addPlaced { $0.friends }
        all.addPlaced { $0.tags }
        all.addPlaced { $0.nested }
        all.addPlaced { $0.pals }
        all.addPlaced { $0.befriended }
        all.addPlaced { $0.results }
        all.addPlaced { $0.values }
        all.addPlaced { $0.any }
        all.addPlaced { $0.sections }
        all.addPlaced { $0.section }
        all.addPlaced { $0.snapshot }
        all.addPlaced { $0.names }
        all.addPlaced { $0.views }
        all.addCollections { $0.friends }
        all.addCollections { $0.pals }
        all.addCollections { $0.befriended }
        all.addCollections { $0.results }
        all.addCollections { $0.any }
        all.addNumbers { $0.marks }
        all.addNumbers { $0.sizes }
        all.addNumbers { AnyRealmCollection($0.marks) }
        return all
    }()

    /// Calls on a collection with indexes and ranges out of bounds.
    mutating func addPlaced<Placed: _PlacedCollection & SendableMetatype>(_ path: @escaping (GoneWorld) -> Placed)
    where Placed.SubSequence: RandomAccessCollection {
        func each(_ member: String, _ call: @escaping (Placed, Int) -> Void) {
            self.call("_PlacedCollection.\(member)") { world in
                for place in GoneWorld.places { call(path(world), place) }
            }
        }
        each("prefix(_:)") { _ = Array($0.prefix($1)) }
        each("prefix(through:)") { _ = Array($0.prefix(through: $1)) }
        each("prefix(upTo:)") { _ = Array($0.prefix(upTo: $1)) }
        each("suffix(_:)") { _ = Array($0.suffix($1)) }
        each("suffix(from:)") { _ = Array($0.suffix(from: $1)) }
        each("dropFirst(_:)") { _ = Array($0.dropFirst($1)) }
        each("dropLast(_:)") { _ = Array($0.dropLast($1)) }
        each("index(after:)") { _ = $0.index(after: $1) }
        each("index(before:)") { _ = $0.index(before: $1) }
        each("index(_:offsetBy:)") { for far in GoneWorld.places { _ = $0.index($1, offsetBy: far) } }
        each("index(_:offsetBy:limitedBy:)") {
            for far in GoneWorld.places { _ = $0.index($1, offsetBy: far, limitedBy: 3) }
        }
        each("distance(from:to:)") { for far in GoneWorld.places { _ = $0.distance(from: $1, to: far) } }
        each("enumerated()") { placed, _ in _ = placed.enumerated().map { $0.offset } }
        each("map(_:)") { placed, _ in _ = placed.map { _ in 1 } }
        each("firstIndex(where:)") { placed, _ in _ = placed.firstIndex { _ in false } }
        each("subscript(_:)*2") { placed, place in
            _ = Array(placed[Swift.min(place, 5)..<Swift.max(place, 5)])
            _ = Array(placed[Swift.min(place, 5)...Swift.max(place, 5)])
            _ = Array(placed[place...])
            _ = Array(placed[..<place])
            _ = Array(placed[...place])
            _ = placed[place]
            _ = Array(placed[...])
        }
    }

    /// Calls on a collection of objects of any kind.
    mutating func addCollections<Dogs: RealmCollection<GoneDog> & SendableMetatype>(
        _ path: @escaping (GoneWorld) -> Dogs
    ) {
        func each(_ member: String, _ call: @escaping (Dogs, GoneWorld) -> Void) {
            self.call("RealmCollection.\(member)") { call(path($0), $0) }
        }
        each("startIndex") { dogs, _ in _ = dogs.startIndex }
        each("endIndex") { dogs, _ in _ = dogs.endIndex }
        each("first") { dogs, _ in _ = dogs.first?.name }
        each("last") { dogs, _ in _ = dogs.last?.name }
        each("realm") { dogs, _ in _ = dogs.realm }
        each("isFrozen") { dogs, _ in _ = dogs.isFrozen }
        each("isInvalidated") { dogs, _ in _ = dogs.isInvalidated }
        each("underestimatedCount") { dogs, _ in _ = dogs.underestimatedCount }
        each("freeze()") { dogs, _ in
            let frozen = dogs.freeze()
            _ = (frozen.count, frozen.isInvalidated, frozen[0].name, frozen.where { $0.age > 1 }.count)
        }
        each("thaw()") { dogs, _ in _ = dogs.thaw()?.count }
        each("objects(at:)") { dogs, _ in _ = dogs.objects(at: GoneWorld.places).map(\.name) }
        each("index(of:)*2") { dogs, world in _ = (dogs.index(of: world.dog), dogs.index(of: GoneDog())) }
        each("sorted(by:)") { dogs, _ in _ = dogs.sorted(by: [SortDescriptor(keyPath: "name")]).map(\.name) }
        each("sorted(by:ascending:)") { dogs, _ in _ = dogs.sorted(by: \.name)[7].name }
        each("sorted(byKeyPath:ascending:)") { dogs, _ in _ = dogs.sorted(byKeyPath: "mother.name").map(\.name) }
        each("distinct(by:)*2") { dogs, _ in
            _ = (dogs.distinct(by: ["name"]).count, dogs.distinct(by: [\GoneDog.name])[7].name)
        }
        each("limit(_:offset:)") { dogs, _ in
            for place in GoneWorld.places { _ = dogs.limit(place, offset: place).map(\.name) }
        }
        each("min(of:)*3") { dogs, _ in _ = dogs.min(of: \.age) }
        each("max(of:)*3") { dogs, _ in _ = dogs.max(of: \.age) }
        each("sum(of:)*2") { dogs, _ in _ = dogs.sum(of: \.age) }
        each("average(of:)*5") { dogs, _ in _ = dogs.average(of: \.age) as Double? }
        each("min(ofProperty:)") { dogs, _ in _ = dogs.min(ofProperty: "age") as Int? }
        each("max(ofProperty:)") { dogs, _ in _ = dogs.max(ofProperty: "age") as Int? }
        each("sum(ofProperty:)") { dogs, _ in _ = dogs.sum(ofProperty: "age") as Int }
        each("average(ofProperty:)") { dogs, _ in _ = dogs.average(ofProperty: "age") as Double? }
        each("value(forKey:)") { dogs, _ in _ = (dogs.value(forKey: "name"), dogs.value(forKey: "self")) }
        each("value(forKeyPath:)") { dogs, _ in
            _ = (dogs.value(forKeyPath: "mother.name"), dogs.value(forKeyPath: "@sum.age"))
        }
        each("isEqual(_:)") { dogs, world in _ = (dogs.isEqual(dogs), dogs.isEqual(world.dog)) }
        each("setValue(_:forKey:)") { dogs, world in world.change { dogs.setValue("x", forKey: "name") } }
        each("sectioned(by:ascending:)*2") { dogs, _ in _ = dogs.sectioned(by: \.name)[7][7].name }
        each("sectioned(sortDescriptors:_:)") { dogs, _ in
            _ = dogs.sectioned(sortDescriptors: ["name"]) { $0.age }[0][0].name
        }
        each("sectioned(by:sortDescriptors:)*2") { dogs, _ in
            _ = dogs.sectioned(by: { $0.age }, sortDescriptors: ["name"])[0][0].name
            _ = dogs.sectioned(by: \.age, sortDescriptors: ["name"]).freeze()[0][0].name
        }
        addQuestions(path)
        addObservers(path)
    }

    private mutating func addQuestions<Dogs: RealmCollection<GoneDog> & SendableMetatype>(
        _ path: @escaping (GoneWorld) -> Dogs
    ) {
        func each(_ member: String, _ call: @escaping (Dogs, GoneWorld) -> Void) {
            self.call("RealmCollection.\(member)") { call(path($0), $0) }
        }
        each("index(matching:)*2") { dogs, _ in
            _ = dogs.index(matching: { $0.age > 1 })
            _ = dogs.index(matching: FormatPredicate(format: "age > 1"))
        }
        each("index(matching:argumentArray:)") { dogs, _ in
            _ = dogs.index(matching: "age > %@", argumentArray: [1])
        }
        each("index(matching:_:)*2") { dogs, _ in _ = dogs.index(matching: "age > %@", 1) }
        each("where(_:)*2") { dogs, world in
            _ = dogs.where { $0.age > 1 && $0.mother == world.dog }.map(\.name)
            _ = dogs[99].friends.where { $0.age > 1 }.map(\.name)
            _ = dogs[99].friends[99].pals.where { $0.age > 1 }.first?.name
        }
        each("filter(_:)*2") { dogs, _ in
            _ = (dogs.filter { $0.age > 1 }.count, dogs.filter(FormatPredicate(format: "age > 1"))[7].name)
        }
        each("filter(_:argumentArray:)") { dogs, world in
            _ = dogs.filter("mother == %@", argumentArray: [world.dog]).count
        }
        each("tryFilter(_:)") { dogs, world in
            _ = try? dogs.tryFilter(FormatPredicate(format: "mother == %@", world.dog)).count
        }
        each("tryFilter(_:argumentArray:)") { dogs, world in
            _ = try? dogs.tryFilter("mother == %@", argumentArray: [world.dog]).count
        }
        each("filter(_:_:)*2") { dogs, world in _ = dogs.filter("mother == %@", world.dog).count }
        each("tryFilter(_:_:)") { dogs, world in _ = try? dogs.tryFilter("mother == %@", world.dog).count }
    }

    private mutating func addObservers<Dogs: RealmCollection<GoneDog> & SendableMetatype>(
        _ path: @escaping (GoneWorld) -> Dogs
    ) {
        call("RealmCollection.observe(keyPaths:on:_:)*2") { world in
            guard world.isLive else { return }
            path(world).observe { change in if case .initial(let dogs) = change { _ = dogs[3].name } }.invalidate()
            path(world).observe(keyPaths: [\GoneDog.name]) { _ in }.invalidate()
            let told = GoneQueue()
            let token = path(world).observe(on: told.queue) { change in
                if case .initial(let dogs) = change { _ = (dogs[3].name, dogs.where { $0.age > 1 }.count) }
            }
            told.wait()
            token.invalidate()
        }
        call("RealmCollection.observe(on:_:)") { world in
            guard world.isLive else { return }
            path(world).observe(on: nil) { change in if case .initial(let dogs) = change { _ = dogs[3].name } }
                .invalidate()
        }
        call("RealmCollection.observe(keyPaths:on:isolation:_:)*2") { world in
            guard world.isLive else { return }
            await path(world).observe(on: GonePlace()) { _, change in
                if case .initial(let dogs) = change { _ = dogs[3].name }
            }.invalidate()
            await path(world).observe(keyPaths: [\GoneDog.name], on: GonePlace()) { _, _ in }.invalidate()
        }
        call("RealmCollection.changes") { if $0.isLive { _ = path($0).changes.makeAsyncIterator() } }
        call("RealmCollection.changes(keyPaths:)") {
            if $0.isLive { _ = path($0).changes(keyPaths: ["name"]).makeAsyncIterator() }
        }
    }

    /// Calls on a collection of numbers.
    mutating func addNumbers<Numbers: RealmCollection<Int> & SendableMetatype>(_ path: @escaping (GoneWorld) -> Numbers)
    {
        func each(_ member: String, _ call: @escaping (Numbers) -> Void) {
            self.call("RealmCollection.\(member)") { call(path($0)) }
        }
        each("sorted()*2") { _ = $0.sorted()[7] }
        each("sorted(ascending:)") { _ = $0.sorted(ascending: false)[7] }
        each("distinct()") { _ = $0.distinct()[7] }
        each("min()*2") { _ = $0.min() }
        each("max()*2") { _ = $0.max() }
        each("sum()*2") { _ = $0.sum() }
        each("average()*3") { _ = $0.average() as Int? }
        each("where(_:)*2") { _ = $0.where { $0 > 1 }[7] }
        each("filter(_:_:)*2") { _ = $0.filter("SELF > 1").map { $0 } }
        each("index(matching:)*2") { _ = $0.index(matching: { $0 > 1 }) }
        each("index(matching:_:)*2") { _ = $0.index(matching: "SELF > 1") }
        each("limit(_:offset:)") { for place in GoneWorld.places { _ = $0.limit(place, offset: place).map { $0 } } }
        each("sectioned(by:ascending:)*2") { _ = $0.sectioned(by: { $0 })[7][7] }
        each("freeze()") { _ = $0.freeze()[7] }
        each("value(forKey:)") { _ = $0.value(forKey: "self") }
        each("value(forKeyPath:)") { _ = $0.value(forKeyPath: "@max.self") }
        call("RealmCollection.observe(keyPaths:on:_:)*2") { world in
            guard world.isLive else { return }
            path(world).observe { change in if case .initial(let marks) = change { _ = marks[7] } }.invalidate()
            let told = GoneQueue()
            let token = path(world).filter("SELF > 1").observe(on: told.queue) { change in
                if case .initial(let marks) = change { _ = marks[7] }
            }
            told.wait()
            token.invalidate()
        }
    }
}
