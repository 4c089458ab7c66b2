import Foundation
import Seeds
import Strata
import Testing

/// Notifications of lists and dictionaries in values of any type.
@Suite struct NestedObserverTests {
    final class Board: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var note: AnyRealmValue
        @Persisted var pins: List<AnyRealmValue>
    }

    private func board(_ note: AnyRealmValue) throws -> (Realm, Board) {
        let realm = try makeRealm([Board.self])
        let board = Board()
        board.note = note
        try realm.write { realm.add(board) }
        return (realm, board)
    }

    @Test("a change at any depth is a change of the property")
    func changeAtAnyDepth() throws {
        let (realm, board) = try board(.fromDictionary(["a": .fromArray([.fromArray([.int(1)])])]))
        var told: [[String]] = []
        let token = board.observe { if case .change(_, let properties) = $0 { told.append(properties.map(\.name)) } }
        let narrow = board.observe(keyPaths: ["pins"]) { _ in told.append(["narrow"]) }
        let inner = try #require(board.note.dictionaryValue?["a"]?.listValue?[0].listValue)
        try realm.write { inner.append(.int(2)) }
        try realm.write { inner[0] = .string("x") }
        try realm.write { board.note.dictionaryValue?["b"] = .bool(true) }
        try realm.write { board.note.dictionaryValue?.removeAll() }
        #expect(told == Array(repeating: ["note"], count: 4) && inner.isInvalidated)
        try realm.write { board.pins.append(.fromArray([])) }
        #expect(told.suffix(2).sorted { $0[0] < $1[0] } == [["narrow"], ["pins"]])
        try realm.write { board.pins[0].listValue?.append(.int(1)) }
        #expect(told.count == 8)
        withExtendedLifetime((token, narrow)) {}
    }

    @Test("a list's observer is told of inserted, deleted and changed elements")
    func observerOfAList() throws {
        let (realm, board) = try board(
            .fromArray([.fromArray([.float(43), .string("lunch"), .double(12)]), .bool(false)]))
        let list = try #require(board.note.listValue)
        let inner = try #require(list[0].listValue)
        var told: [String] = []
        let tokens = [("list", list), ("inner", inner)].map { name, list in
            list.observe { change in
                guard case .update(let list, let gone, let come, let changed) = change else { return }
                told.append("\(name) \(list.count) \(gone) \(come) \(changed)")
            }
        }
        func hear(_ change: () -> Void) throws -> [String] {
            told = []
            try realm.write(change)
            return told
        }
        #expect(try hear { list.append(.fromArray([.int(1)])) } == ["list 3 [] [2] []"])
        #expect(try hear { inner.removeLast() } == ["list 3 [] [] [0]", "inner 2 [2] [] []"])
        #expect(try hear { list.insert(.int(9), at: 0) } == ["list 4 [] [0] []"])
        #expect(
            try hear {
                inner.append(.int(5))
                list.remove(at: 0)
            } == ["list 3 [0] [] [1]", "inner 3 [] [2] []"])
        #expect(try hear { inner.removeAll() } == ["list 3 [] [] [0]", "inner 0 [0, 1, 2] [] []"])
        #expect(try hear { inner.append(.int(6)) } == ["list 3 [] [] [0]", "inner 1 [] [0] []"])
        #expect(try hear { list[0] = .int(3) } == ["list 3 [0] [0] []", "inner 0 [0] [] []"])
        #expect(inner.isInvalidated)
        #expect(try hear { list[0] = .fromArray([]) } == ["list 3 [0] [0] []"])
        withExtendedLifetime(tokens) {}
    }

    @Test("a dictionary's observer is told of its keys")
    func observerOfADictionary() throws {
        let (realm, board) = try board(.fromDictionary(["k": .fromDictionary(["x": .int(1)]), "n": .int(2)]))
        let map = try #require(board.note.dictionaryValue)
        let inner = try #require(map["k"]?.dictionaryValue)
        var told: [String] = []
        let tokens = [("map", map), ("inner", inner)].map { name, map in
            map.observe { change in
                guard case .update(_, let gone, let come, let changed) = change else { return }
                told.append("\(name) \(gone) \(come) \(changed)")
            }
        }
        try realm.write { map["new"] = .fromArray([]) }
        try realm.write { inner["x"] = .string("y") }
        try realm.write { map["n"] = nil }
        try realm.write { map["k"] = .int(0) }
        #expect(
            told == [
                "map [] [\"new\"] []", "map [] [] [\"k\"]", "inner [] [] [\"x\"]", "map [\"n\"] [] []",
                "map [] [] [\"k\"]", "inner [\"x\"] [] []",
            ])
        withExtendedLifetime(tokens) {}
    }

    // MARK: Random histories

    /// A value tree as plain Swift.
    private indirect enum Tree: Equatable {
        case leaf(Int)
        case list([Tree])
        case map([String: Tree])

        var value: AnyRealmValue {
            switch self {
            case .leaf(let number): .int(number)
            case .list(let elements): .fromArray(elements.map(\.value))
            case .map(let entries): .fromDictionary(entries.mapValues(\.value))
            }
        }

        init(_ value: AnyRealmValue) {
            switch value {
            case .list(let list): self = .list(list.map { Tree($0) })
            case .dictionary(let map):
                self = .map(Dictionary(uniqueKeysWithValues: map.map { ($0.key, Tree($0.value)) }))
            default: self = .leaf(value.intValue ?? -1)
            }
        }
    }

    private struct History {
        var generator: RandomStream

        mutating func below(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &generator) }

        mutating func tree(_ depth: Int) -> Tree {
            switch depth == 0 ? 0 : below(4) {
            case 1: return .list((0..<below(5)).map { _ in tree(depth - 1) })
            case 2: return .map(Dictionary((0..<below(4)).map { ("k\($0)", tree(depth - 1)) }) { $1 })
            default: return .leaf(below(100))
            }
        }

        /// One change somewhere in a list and in its model alike.
        mutating func change(_ list: List<AnyRealmValue>, _ model: inout [Tree]) {
            let place = below(model.count)
            if !model.isEmpty, below(3) > 0 {
                switch model[place] {
                case .list(var inner):
                    guard let list = list[place].listValue else { return }
                    change(list, &inner)
                    model[place] = .list(inner)
                    return
                case .map(var inner):
                    guard let map = list[place].dictionaryValue else { return }
                    change(map, &inner)
                    model[place] = .map(inner)
                    return
                case .leaf: break
                }
            }
            switch model.isEmpty ? 0 : below(7) {
            case 0, 1, 2:
                let (new, at) = (tree(3), below(model.count + 1))
                list.insert(new.value, at: at)
                model.insert(new, at: at)
            case 3:
                list.remove(at: place)
                model.remove(at: place)
            case 4:
                let target = below(model.count)
                list.move(from: place, to: target)
                model.insert(model.remove(at: place), at: target)
            case 5:
                let other = below(model.count)
                list.swapAt(place, other)
                model.swapAt(place, other)
            default:
                let new = tree(2)
                list[place] = new.value
                model[place] = new
            }
        }

        mutating func change(_ map: Map<String, AnyRealmValue>, _ model: inout [String: Tree]) {
            let key = "k\(below(5))"
            if case .list(var inner)? = model[key], below(2) == 0, let list = map[key]?.listValue {
                change(list, &inner)
                model[key] = .list(inner)
            } else if below(3) == 0 {
                map[key] = nil
                model[key] = nil
            } else {
                let new = tree(2)
                map[key] = new.value
                model[key] = new
            }
        }
    }

    /// Mirrors a list by its observer's changes.
    private final class Mirror {
        var elements: [Tree]
        var token: NotificationToken?
        var failures = 0

        init(_ list: List<AnyRealmValue>) {
            elements = list.map { Tree($0) }
            token = list.observe { [weak self] change in
                guard let self, case .update(let list, let gone, let come, let changed) = change else { return }
                // Indexes of modifications refer to the old list.
                let kept = elements.indices.filter { !gone.contains($0) }
                var left = kept.map { (changed.contains($0), self.elements[$0]) }
                for place in come { left.insert((true, .leaf(0)), at: place) }
                guard left.count == list.count else { return failures += 1 }
                elements = left.enumerated().map { $0.element.0 ? Tree(list[$0.offset]) : $0.element.1 }
            }
        }
    }

    @Test(
        "a random history equals its model, for observers, frozen versions and rollbacks, too",
        arguments: Array(UInt64(1)...6))
    func randomHistory(seed: UInt64) throws {
        let comment: Comment = "seed \(seed): swift test --filter NestedObserverTests"
        let file = TemporaryFile()
        var history = History(generator: RandomStream(Seed(seed)))
        var (note, pins): ([Tree], [Tree]) = ([.list([.leaf(1)])], [.list([.leaf(2)])])
        for _ in 0..<3 {
            let realm = try Realm(configuration: file.configuration([Board.self]))
            let board =
                try realm.object(ofType: Board.self, forPrimaryKey: 0)
                ?? realm.write {
                    let board = realm.create(Board.self, value: ["id": 0])
                    board.note = Tree.list(note).value
                    board.pins.append(objectsIn: pins.map(\.value))
                    return board
                }
            let list = try #require(board.note.listValue)
            let mirrors = [Mirror(list), Mirror(board.pins)]
            for round in 0..<25 {
                let frozen = board.freeze()
                let before = (note, pins)
                realm.beginWrite()
                for _ in 0...history.below(4) {
                    history.change(list, &note)
                    history.change(board.pins, &pins)
                }
                #expect(list.map { Tree($0) } == note && board.pins.map { Tree($0) } == pins, comment)
                if round % 5 == 4 {
                    realm.cancelWrite()
                    (note, pins) = before
                } else {
                    try realm.commitWrite()
                }
                #expect(Tree(board.note) == .list(note) && board.pins.map { Tree($0) } == pins, comment)
                #expect(frozen.pins.map { Tree($0) } == before.1 && Tree(frozen.note) == .list(before.0), comment)
                try #require(mirrors[0].elements == note && mirrors[1].elements == pins, comment)
                try #require(mirrors.allSatisfy { $0.failures == 0 }, comment)
            }
        }
    }

    @Test("held collections stay the same ones through a random history", arguments: Array(UInt64(11)...14))
    func heldThroughAHistory(seed: UInt64) throws {
        let comment: Comment = "seed \(seed): swift test --filter NestedObserverTests"
        var generator = RandomStream(Seed(seed))
        let (realm, board) = try board(.fromArray((0..<8).map { .fromArray([.int($0)]) }))
        let outer = try #require(board.note.listValue)
        try realm.write { board.pins.append(objectsIn: (0..<8).map { .fromArray([.int($0)]) }) }
        for list in [outer, board.pins] {
            var held = (0..<8).compactMap { place in list[place].listValue.map { (place, $0) } }
            for round in 0..<40 {
                realm.beginWrite()
                let before = held.count
                for _ in 0..<3 where list.count > 2 {
                    let (a, b) = (
                        Int.random(in: 0..<list.count, using: &generator),
                        Int.random(in: 0..<list.count, using: &generator)
                    )
                    switch Int.random(in: 0..<6, using: &generator) {
                    case 0: list.insert(.int(-1), at: a)
                    case 1: list.move(from: a, to: b)
                    case 2: list.swapAt(a, b)
                    case 3: list.insert(.fromArray([.int(-2)]), at: a)
                    case 4: if list[a].listValue?.first?.intValue ?? -1 < 0 { list.remove(at: a) }
                    default: held.randomElement(using: &generator)?.1.append(.int(round))
                    }
                }
                if round % 3 == 0 { realm.cancelWrite() } else { try realm.commitWrite() }
                #expect(held.count == before)
                for (number, inner) in held {
                    try #require(!inner.isInvalidated && inner.first == .int(number), comment)
                }
            }
            let last = held.popLast()
            let gone = try #require(last)
            try realm.write {
                let place = try #require(list.firstIndex { $0.listValue == gone.1 })
                list.remove(at: place)
            }
            #expect(gone.1.isInvalidated && held.allSatisfy { !$0.1.isInvalidated })
        }
    }
}
