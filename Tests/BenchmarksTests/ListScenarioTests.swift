import Harness
import RunRecords
import Seeds
import Testing
import Zoo

@testable import Scenarios

@Suite struct ListScenarioTests {
    static let engines = EnginesUnderTest.all.filter { $0.capabilities.contains(.lists) }.map(\.name)
    static let small = ["elements": "60", "changes": "20", "rounds": "2", "commits": "4"]

    /// Changes of every kind, at the ends and in the middle.
    private static func change(_ random: inout RandomStream, length: Int, hasMoves: Bool = true) -> ListChange {
        let values = (0..<(1 + random.below(12))).map { _ in Int64(random.below(1_000)) }
        switch random.below(hasMoves ? 6 : 5) {
        case 0: return .append(values)
        case 1: return .appendAll(values)
        case 2: return .insert(values, at: values.map { _ in 0 })
        case 3: return .insert(values, at: values.indices.map { random.below(length + $0 + 1) })
        case 4: return .remove(at: (0..<min(values.count, length)).map { random.below(length - $0) })
        default:
            guard length > 0 else { return .append(values) }
            return .move(from: values.map { _ in random.below(length) }, to: values.map { _ in random.below(length) })
        }
    }

    private static func apply(_ change: ListChange, to array: inout [Int64]) {
        switch change {
        case .append(let values), .appendAll(let values): array += values
        case .insert(let values, let places):
            for (value, place) in zip(values, places) { array.insert(value, at: place) }
        case .remove(let places): for place in places { array.remove(at: place) }
        case .move(let places, let others):
            for (place, other) in zip(places, others) {
                let value = array.remove(at: place)
                array.insert(value, at: other)
            }
        }
    }

    @Test("the model behaves like an array")
    func model() {
        var random = RandomStream(Seed(3))
        var array = (0..<50).map { Int64($0) }
        var model = ListModel(array, room: 4)
        for _ in 0..<300 {
            let change = Self.change(&random, length: array.count)
            Self.apply(change, to: &array)
            model.apply(change)
            #expect(model.values == array)
            #expect(model.count == array.count)
        }
        #expect(model.difference(from: array) == nil)
        #expect(array.indices.allSatisfy { model[$0] == array[$0] })
        let short = "\(array.count - 1) elements instead of \(array.count)"
        #expect(model.difference(from: Array(array.dropLast())) == short)
        array.swapAt(0, 1)
        #expect(array[0] == array[1] || model.difference(from: array)?.hasPrefix("place 0:") == true)
    }

    @Test("two elements swapped within or between lists give another digest")
    func digests() {
        func digest(_ lists: [[Int64]]) -> ListDigest {
            var digest = ListDigest()
            for list in lists {
                for value in list { digest.add(value) }
                digest.endList()
            }
            return digest
        }
        let sound = digest([[1, 2, 3], [4, 5]])
        #expect(sound == digest([[1, 2, 3], [4, 5]]))
        let others: [[[Int64]]] = [
            [[1, 3, 2], [4, 5]], [[1, 2], [3, 4, 5]], [[1, 2, 3, 4, 5]], [[1, 2, 3], [4, 5], []],
        ]
        for other in others {
            #expect(sound != digest(other))
        }
    }

    @Test(
        "a list equals the model after any changes, and after a close", arguments: engines,
        [ListKeeping.dense, .gapped])
    func agreement(name: String, keeping: ListKeeping) throws {
        let engine = try #require(try EnginesUnderTest.engine(name) as? any ListEngine)
        try EnginesUnderTest.withDirectory { directory in
            let location = DatabaseLocation(directory: directory)
            func open() throws -> any ListSession {
                try engine.openLists(location, settings: engine.settings(for: .none), keeping: keeping)
            }
            var session = try open()
            let batch = ListValues.batch(firstOwner: 0, lists: 3, length: 30)
            try session.addLists(batch)
            var models = batch.owners.map { ListModel(Array(batch.elements($0))) }
            var random = RandomStream(Seed(5))
            for step in 0..<60 {
                let owner = step % 3
                var change = Self.change(&random, length: models[owner].count, hasMoves: engine.hasOwnLists)
                // Inserts at one place again and again, until a numbering with gaps has no number left between
                // neighbours.
                if step == 30 { change = .insert((0..<80).map { Int64($0) }, at: (0..<80).map { _ in 1 }) }
                var isBefore = false
                try session.change(owner: Int64(owner), change) { isBefore = true }
                #expect(isBefore)
                models[owner].apply(change)
                #expect(models[owner].difference(from: try session.readList(owner: Int64(owner))) == nil, "\(change)")
            }
            try session.close()
            session = try open()
            for owner in 0..<3 {
                let places = (0..<20).map { _ in random.below(models[owner].count) } + [0, models[owner].count - 1]
                #expect(try session.readElements(owner: Int64(owner), at: places) == models[owner].digest(at: places))
                #expect(try session.walkLists(owners: [Int64(owner)]) == models[owner].walk)
            }
            #expect(throws: EngineError.self) { try session.readElements(owner: 1, at: [models[1].count]) }
            try session.close()
        }
    }

    @Test("lists stored as one value round-trip", arguments: engines)
    func packed(name: String) throws {
        let engine = try #require(try EnginesUnderTest.engine(name) as? any ListEngine)
        try EnginesUnderTest.withDirectory { directory in
            let session = try engine.openLists(
                DatabaseLocation(directory: directory), settings: engine.settings(for: .none), keeping: .packed)
            let batch = ListValues.batch(firstOwner: 4, lists: 40, length: 3)
            try session.addLists(batch)
            for owner in batch.owners { #expect(try session.readList(owner: owner) == Array(batch.elements(owner))) }
            #expect(throws: EngineError.self) { try session.change(owner: 4, .append([1])) {} }
            try session.close()
        }
    }

    @Test("the scenarios find nothing wrong", arguments: engines, ["dense", "gapped"])
    func right(name: String, keeping: String) throws {
        let engine = try EnginesUnderTest.engine(name)
        var parameters = Self.small
        parameters["keeping"] = keeping
        let long = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("list-operations"), on: engine, parameters: parameters)
        #expect(long.outcomes == [.correct: 5], "\(long.trials)")
        for label in ["bulk append, with commit", "append", "insert at 0", "insert", "remove", "read by place", "walk"]
        {
            #expect(long.value("operation_ns", label: label) ?? 0 > 0, "\(label)")
        }
        let small = try CaseUnderTest.run(
            try ScenarioRunTests.scenario("small-lists"), on: engine,
            parameters: ["lists": "60", "commits": "6", "keeping": keeping])
        #expect(small.outcomes == [.correct: 4], "\(small.trials)")
    }

    static let mistakes: [(EngineMistake, String)] = [
        (.listElementLost, "list-operations"), (.listNeighbour, "list-operations"),
        (.listOutOfOrder, "list-operations"), (.listRemovesNeighbour, "list-operations"),
        (.listWalkShort, "list-operations"), (.commitMissing, "list-operations"), (.listStrays, "small-lists"),
        (.listWalkShort, "small-lists"), (.commitMissing, "small-lists"), (.olderState, "small-lists"),
    ]

    @Test("a mistake in a list is found", arguments: mistakes, engines)
    func mistaken(mistake: (EngineMistake, String), name: String) throws {
        let engine = PlantedEngine.wrap(try EnginesUnderTest.engine(name), mistake.0)
        let parameters = mistake.1 == "small-lists" ? ["lists": "60", "commits": "6"] : Self.small
        do {
            let report = try CaseUnderTest.run(
                try ScenarioRunTests.scenario(mistake.1), on: engine, parameters: parameters)
            #expect(report.outcomes[.silentlyWrong, default: 0] > 0, "\(report.outcomes)")
        } catch let error as EngineError {
            // A list shorter than its model may refuse a later step.
            #expect(mistake.0 == .listElementLost || mistake.0 == .commitMissing, "\(error)")
        }
    }
}
