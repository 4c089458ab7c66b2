import Dispatch
import Foundation
import Seeds
import Strata

/// Random accesses by several threads to objects that other threads delete, in a process of their own.
///
/// The main thread makes the calls of ``GoneCalls`` on its own objects, which other threads delete. Each other thread
/// holds objects, lists, results, sections and slices, and reads them by indexes that may be out of range.
@MainActor
enum GoneStorm {
    static func run(_ seed: Seed, seconds: Double, _ policy: Realm.Configuration.InvalidAccess) async throws {
        let configuration = Realm.Configuration(
            inMemoryIdentifier: "storm", objectTypes: [GoneDog.self, GonePart.self], invalidAccess: policy)
        let end = Date().addingTimeInterval(seconds)
        let done = DispatchGroup()
        for number in 1...3 {
            done.enter()
            let thread = Thread {
                StormThread.run(configuration, RandomStream(seed.derived(UInt64(number))), until: end)
                done.leave()
            }
            thread.stackSize = 4 << 20
            thread.start()
        }
        var random = RandomStream(seed.derived("calls"))
        let realm = try Realm(configuration: configuration)
        let calls = GoneCalls.all.calls.sorted { $0.key < $1.key }.flatMap { member, calls in
            calls.map { (member: member, call: $0) }
        }
        var worlds: [GoneWorld] = []
        var first = 1_000
        while Date() < end {
            if worlds.isEmpty || Int.random(in: 0..<12, using: &random) == 0 {
                first += 100
                let made = try GoneWorld(.wild, in: realm, from: first)
                if made.isComplete { worlds.append(made) }
                if worlds.isEmpty { continue }
                if worlds.count > 6 { worlds.removeFirst() }
            }
            let world = worlds[Int.random(in: worlds.indices, using: &random)]
            for _ in 0..<3 {
                let next = calls[Int.random(in: calls.indices, using: &random)]
                GoneRun.note(next.member)
                try await next.call(world)
            }
            // Commits of others wake the Realm here.
            await Task.yield()
        }
        while done.wait(timeout: .now()) == .timedOut { await Task.yield() }
    }
}

/// The work of one of the other threads of a storm.
private struct StormThread {
    private let realm: Realm
    private var random: RandomStream
    private var dogs: [GoneDog] = []
    private var lists: [List<GoneDog>] = []
    private var slices: [Slice<Results<GoneDog>>] = []
    private var sections: [ResultsSection<Int, GoneDog>] = []
    private var snapshots: [ResultsSnapshot<GoneDog>] = []

    static func run(_ configuration: Realm.Configuration, _ random: RandomStream, until end: Date) {
        do {
            var thread = StormThread(realm: try Realm(configuration: configuration), random: random)
            while Date() < end { thread.step() }
        } catch {
            fatalError("a storm cannot open its Realm: \(error)")
        }
    }

    private init(realm: Realm, random: RandomStream) {
        self.realm = realm
        self.random = random
    }

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func place() -> Int {
        below(20) == 0 ? [Int.max, Int.min, -1][below(3)] : Int.random(in: -1..<30, using: &random)
    }

    private mutating func step() {
        let all = realm.objects(GoneDog.self)
        switch below(12) {
        case 0, 1: write(all)
        case 2: hold(all)
        case 3: for dog in dogs { _ = (dog.name, dog.mother?.name, dog.note, dog.part?.label, dog.tags.first) }
        case 4:
            for list in lists {
                let place = place()
                _ = (list[place].name, list[place...].first?.name, list.prefix(place).map(\.age), list.freeze().count)
            }
        case 5: for slice in slices { _ = (slice[place()].name, slice.map(\.name), slice.dropFirst(place()).count) }
        case 6: for section in sections { _ = (section.key, section[place()].name, section.freeze()[place()].name) }
        case 7: for snapshot in snapshots { _ = (snapshot[place()].friends[place()].name, snapshot.last?.thaw()?.age) }
        case 8: for dog in dogs { _ = (dog.freeze().friends.count, dog.freeze().thaw()?.name) }
        case 9: for dog in dogs { dog.observe { (_: ObjectChange<GoneDog>) in }.invalidate() }
        case 10: realm.refresh()
        default:
            let sections = all.sectioned(by: \.age)
            _ = (sections[place()].key, sections[place()][place()].name)
            _ = all.where { $0.age > 2 }.sorted(by: \.name)[place()].friends.where { $0.age > 1 }.count
            if below(8) == 0 { realm.invalidate() }
        }
    }

    private mutating func hold(_ all: Results<GoneDog>) {
        if dogs.count > 12 {
            dogs.removeAll()
            lists.removeAll()
            slices.removeAll()
            sections.removeAll()
            snapshots.removeAll()
        }
        let dog = all[place()]
        dogs.append(dog)
        lists.append(dog.friends)
        slices.append(all[Swift.min(place(), 3)..<Swift.max(place(), 3)])
        sections.append(all.sectioned(by: \.age)[0])
        snapshots.append(all.snapshot())
    }

    private mutating func write(_ all: Results<GoneDog>) {
        let (kind, age, key, chosen) = (below(10), below(9), below(500), place())
        // Changing an object that another thread deleted fails the write.
        do {
            try realm.write {
                switch kind {
                case 0: realm.deleteAll()
                case 1, 2, 3: realm.delete(all.suffix(3))
                case 4: all.first?.friends.removeAll()
                case 5: dogs.last?.friends.append(all[chosen])
                case 6: realm.delete(all.where { $0.age == age })
                default:
                    let made = realm.create(GoneDog.self, value: ["key": key, "age": age], update: .modified)
                    if let dog = all.first { made.friends.append(dog) }
                }
            }
        } catch {}
    }
}
