import StrataFiles
import StrataRepair
import Testing

@testable import StrataStorage
@testable import StrataStorageTests

/// Element trees that lose each node in turn.
@Suite struct SalvagedCollectionTests {
    private typealias Model = CollectionHistory.Model

    /// A store with trees, and the role of each of their pages.
    private struct Trees {
        var data: [UInt8] = []
        var model = Model()
        /// Nodes of trees: the owner, the kind, and the places of elements in or below each.
        var nodes: [(reference: NodeReference, key: Int64, column: Int, places: Range<Int>)] = []

        init(seed: UInt64) throws {
            let disk = FileImages.Disk()
            let store = try FileImages.open(disk)
            var history = CollectionHistory(seed: seed)
            history.longest = 90
            for number in 0..<8 {
                let transaction = try store.beginWrite()
                if number == 0 { try transaction.apply(schema: CollectionHistory.schema) }
                for _ in 0..<9 { try history.step(transaction) }
                try transaction.commit()
            }
            model = history.model
            let view = try store.snapshot().view
            for key in model.rows.keys.sorted() {
                for column in CollectionHistory.columns {
                    let cell = try view.collectionCell(CollectionHistory.owners, RowKey(key), column)
                    guard case .tree(let root, let count) = cell else { continue }
                    try note(root, 0..<count, key, column, view)
                }
            }
            try store.close()
            data = try disk.bytes(FileImages.path) ?? []
        }

        private mutating func note(
            _ reference: NodeReference, _ places: Range<Int>, _ key: Int64, _ column: Int, _ view: ReadView
        ) throws {
            nodes.append((reference, key, column, places))
            if reference.is(.collectionLeaf) {
                let leaf = CollectionLeaf(try view.reader.node(reference, .collectionLeaf))
                for segment in [leaf.keys, leaf.values].compactMap(\.self) where segment.kind == .bytes {
                    for slot in 0..<segment.rows {
                        guard let long = segment.cellValue(slot).long else { continue }
                        let place = places.lowerBound + slot
                        nodes.append((long.reference, key, column, place..<(place + 1)))
                    }
                }
                return
            }
            let branch = CollectionBranch(try view.reader.node(reference, .collectionBranch))
            var first = places.lowerBound
            for index in 0..<branch.count {
                try note(branch.reference(index), first..<(first + branch.elements(index)), key, column, view)
                first += branch.elements(index)
            }
        }
    }

    private func salvage(_ data: [UInt8]) throws -> (report: SalvageReport, model: Model) {
        let salvaged = try SalvagedStore.from(data) { view, _ in try CollectionHistory.contents(view) }
        return (salvaged.report, salvaged.found)
    }

    @Test("a sound store is salvaged completely", arguments: [1, 2, 3] as [UInt64])
    func sound(seed: UInt64) throws {
        let trees = try Trees(seed: seed)
        #expect(trees.nodes.count > 30)
        let (report, model) = try salvage(trees.data)
        #expect(report.isWhole && model == trees.model)
    }

    @Test(
        "a lost leaf or value costs exactly its elements, reported by place",
        arguments: [1, 2] as [UInt64])
    func lostLeaves(seed: UInt64) throws {
        let trees = try Trees(seed: seed)
        var tried = 0
        for node in trees.nodes where !node.reference.is(.collectionBranch) {
            var data = trees.data
            let start = Int(node.reference.page) * Format.pageSize
            data.replaceSubrange(start..<(start + 64), with: repeatElement(0, count: 64))
            let (report, model) = try salvage(data)
            var expected = trees.model
            expected.rows[node.key]?[node.column].removeSubrange(node.places)
            let name = "seed \(seed), page \(node.reference.page)"
            #expect(model == expected, "\(name)")
            let definition = CollectionHistory.schema.tables[CollectionHistory.owners].columns[node.column]
            let lost = report.tables[CollectionHistory.owners].lostElements
            if expected.rows[node.key]?[node.column].isEmpty == true {
                #expect(report.tables[CollectionHistory.owners].lostValues.map(\.id) == [definition.id], "\(name)")
            } else {
                #expect(lost.map(\.key) == [node.key] && lost.map(\.id) == [definition.id], "\(name)")
                #expect(lost.first?.places == [node.places] && lost.first?.uncertain == 0, "\(name)")
                #expect(report.tables[CollectionHistory.owners].elementsLost == node.places.count)
            }
            #expect(!report.isWhole)
            tried += 1
        }
        #expect(tried > 20)
    }

    @Test(
        "of many leaves and values lost at once each is reported, and nothing else is lost",
        arguments: [5, 6] as [UInt64])
    func manyLost(seed: UInt64) throws {
        let trees = try Trees(seed: seed)
        let nodes = trees.nodes.filter { !$0.reference.is(.collectionBranch) }
        var random = SplitMix64(seed: seed)
        for trial in 0..<12 {
            var data = trees.data
            var lost: [Int64: [Int: Set<Int>]] = [:]
            for _ in 0..<(2 + random.below(8)) {
                let node = nodes[Int(random.below(UInt64(nodes.count)))]
                let start = Int(node.reference.page) * Format.pageSize
                data.replaceSubrange(start..<(start + 64), with: repeatElement(0, count: 64))
                lost[node.key, default: [:]][node.column, default: []].formUnion(node.places)
            }
            let (report, model) = try salvage(data)
            let said = report.tables[CollectionHistory.owners]
            var expected = trees.model
            var (wholly, partly) = (0, 0)
            for (key, columns) in lost {
                for (column, places) in columns {
                    let left = (trees.model.rows[key]?[column] ?? []).enumerated().filter {
                        !places.contains($0.offset)
                    }
                    expected.rows[key]?[column] = left.map(\.element)
                    let id = CollectionHistory.schema.tables[CollectionHistory.owners].columns[column].id
                    let named = said.lostElements.filter { $0.key == key && $0.id == id }.flatMap(\.places)
                    // A collection without a remaining element is a lost value.
                    if left.isEmpty { wholly += 1 } else { partly += places.count }
                    #expect(
                        Set(named.flatMap { Array($0) }) == (left.isEmpty ? [] : places),
                        "seed \(seed), trial \(trial), row \(key), column \(column)")
                }
            }
            #expect(model == expected, "seed \(seed), trial \(trial)")
            #expect(said.elementsLost == partly && said.valuesLost == wholly, "seed \(seed), trial \(trial): \(said)")
            #expect(said.elementsUncertain == 0 && !report.isWhole)
        }
    }

    @Test("without a branch its leaves are found by owner", arguments: [1, 2] as [UInt64])
    func lostBranches(seed: UInt64) throws {
        let trees = try Trees(seed: seed)
        var tried = 0
        for node in trees.nodes where node.reference.is(.collectionBranch) {
            var data = trees.data
            let start = Int(node.reference.page) * Format.pageSize
            data.replaceSubrange(start..<(start + 64), with: repeatElement(0, count: 64))
            let (report, model) = try salvage(data)
            let name = "seed \(seed), page \(node.reference.page)"
            let was = trees.model.rows[node.key]?[node.column] ?? []
            let found = model.rows[node.key]?[node.column] ?? []
            let isList =
                CollectionHistory.collection(node.column)?.isKeyed == false
                && CollectionHistory.collection(node.column)?.isSorted == false
            if isList {
                // The leaves below are in page order, all others at their places.
                #expect(found.count == was.count, "\(name)")
                #expect(found.prefix(node.places.lowerBound) == was.prefix(node.places.lowerBound), "\(name)")
                #expect(found.suffix(was.count - node.places.upperBound) == was[node.places.upperBound...], "\(name)")
                #expect(Set(found) == Set(was), "\(name)")
            } else {
                #expect(found == was, "\(name)")
            }
            var others = model
            others.rows[node.key]?[node.column] = was
            #expect(others == trees.model, "\(name)")
            let lost = report.tables[CollectionHistory.owners].lostElements
            #expect(lost.map(\.uncertain) == [node.places.count] && lost.first?.places == [], "\(name)")
            #expect(lost.map(\.isOrderUncertain) == [isList] && lost.first?.lost == 0, "\(name)")
            #expect(!report.isWhole)
            tried += 1
        }
        #expect(tried > 8)
    }

    @Test("without a schema each collection is salvaged as one value, tree or not", arguments: [1, 2])
    func lostSchema(seed: UInt64) throws {
        let trees = try Trees(seed: seed)
        var data = trees.data
        for start in stride(from: Format.firstDataPage * Format.pageSize, to: data.count, by: Format.pageSize)
        where data[start] == NodeKind.schema.rawValue && data[start + 1] == 0 {
            data.replaceSubrange(start..<(start + 64), with: repeatElement(0, count: 64))
        }
        let (report, compared) = try SalvagedStore.from(data) { view, _ in
            var compared = 0
            for (key, row) in trees.model.rows {
                let location = try #require(try view.locate(CollectionHistory.owners, RowKey(key)))
                for column in CollectionHistory.columns where !CollectionHistory.isLinks(column) {
                    let id = CollectionHistory.schema.tables[CollectionHistory.owners].columns[column].id
                    let place = try #require(view.schema.tables[CollectionHistory.owners].position(of: id))
                    guard var holds = CollectionHistory.collection(column) else { continue }
                    let bytes = try view.bytes(location, place)
                    // Without a schema, a salvage takes a collection of data for text if all elements are valid text.
                    if holds.element == .data, bytes?.first == ValueList.Kind.text.rawValue { holds.element = .text }
                    let payload = try #require(
                        CollectionPayload(bytes ?? UnsafeRawBufferPointer(start: nil, count: 0), holds, isLinks: false))
                    let found = (0..<payload.count).map {
                        CollectionPair(key: CollectionValue(payload.key($0)), value: CollectionValue(payload.value($0)))
                    }
                    #expect(found == row[column], "seed \(seed), row \(key), column \(column)")
                    compared += found.count > 20 ? 1 : 0
                }
            }
            return compared
        }
        #expect(report.schema == .lost && compared > 3)
    }

    @Test("no leaf of an older version is salvaged", arguments: [3, 4] as [UInt64])
    func olderLeaves(seed: UInt64) throws {
        let trees = try Trees(seed: seed)
        for node in trees.nodes where node.reference.is(.collectionBranch) {
            var data = trees.data
            // Zeroes the branch and one leaf below it.
            guard
                let leaf = trees.nodes.first(where: {
                    $0.reference.is(.collectionLeaf) && $0.key == node.key && $0.column == node.column
                        && node.places.contains($0.places.lowerBound)
                })
            else { continue }
            for page in [node.reference.page, leaf.reference.page] {
                let start = Int(page) * Format.pageSize
                data.replaceSubrange(start..<(start + 64), with: repeatElement(0, count: 64))
            }
            let (report, model) = try salvage(data)
            var kept = trees.model.rows[node.key]?[node.column] ?? []
            kept.removeSubrange(leaf.places)
            let found = model.rows[node.key]?[node.column] ?? []
            #expect(found.count == kept.count && Set(found) == Set(kept), "seed \(seed), page \(node.reference.page)")
            if found.isEmpty { continue }
            #expect(report.tables[CollectionHistory.owners].elementsLost == leaf.places.count)
            #expect(report.tables[CollectionHistory.owners].lostElements.map(\.lost) == [leaf.places.count])
        }
    }

    /// A list in a checkpoint, with changes of elements in the log after it.
    private struct LoggedList {
        let disk = FileImages.Disk()
        private(set) var data: [UInt8] = []
        private(set) var log: [UInt8] = []
        /// The leaves that the checkpoint reaches.
        private var leaves: [(page: Int, places: Range<Int>)] = []
        /// The leaf to lose, and the list without it.
        private(set) var lost: (page: Int, places: Range<Int>) = (0, 0..<0)
        private(set) var model: [Int64?] = []
        private let owners = CollectionHistory.owners

        private func commit(_ store: Store, _ body: (WriteTransaction) throws -> Void) throws {
            let transaction = try store.beginWrite()
            try body(transaction)
            try transaction.commit()
        }

        init(leaf number: Int) throws {
            let options = FileImages.options(on: disk)
            var store = try Store.open(path: FileImages.path, options: options)
            var history = CollectionHistory(seed: 8)
            history.longest = 1
            try commit(store) { transaction in
                try transaction.apply(schema: CollectionHistory.schema)
                try history.insertRow(transaction, 1)
                try history.set(transaction, 1, 1, (0..<60).map { CollectionPair(value: .integer($0)) })
            }
            try store.close()
            store = try Store.open(path: FileImages.path, options: options)
            // The first two commits of a session are checkpoints and write no log.
            for value in 0..<2 as Range<Int64> {
                try commit(store) {
                    try $0.set(owners, RowKey(1), column: CollectionHistory.number, to: .integer(value))
                }
            }
            try findLeaves(try store.snapshot().view)
            lost = leaves[number * (leaves.count - 1) / 7]
            model = (0..<60).map { lost.places.contains(Int($0)) ? nil : $0 }
            var random = SplitMix64(seed: UInt64(number))
            for round in 1...24 as ClosedRange<Int64> {
                try commit(store) { try change($0.collections, 100 * round, &random) }
            }
            data = try disk.bytes(FileImages.path) ?? []
            log = try #require(try disk.bytes(Store.logPath(FileImages.path)))
            try store.close()
        }

        private mutating func findLeaves(_ view: ReadView) throws {
            let shape = try view.collectionShape(owners, RowKey(1), 1)
            guard case .tree(let root, _) = try view.collectionCell(owners, RowKey(1), 1) else { return }
            var found: [NodeReference] = []
            try CollectionNodes(nodes: view.reader, shape: shape).forEach(root) { found.append($0) }
            for reference in found where reference.is(.collectionLeaf) {
                let count = CollectionLeaf(try view.reader.node(reference, .collectionLeaf)).count
                let first = leaves.last?.places.upperBound ?? 0
                leaves.append((Int(reference.page), first..<(first + count)))
            }
        }

        private mutating func change(
            _ collections: CollectionWriter, _ value: Int64, _ random: inout SplitMix64
        ) throws {
            func integers(_ values: Range<Int64>) -> CollectionElements {
                let elements = CollectionElements(CollectionColumn(.integer))
                for value in values { elements.append(.integer(value)) }
                return elements
            }
            let place = Int(random.below(UInt64(model.count - 4)))
            switch random.below(4) {
            case 0:
                try collections.insert(owners, RowKey(1), column: 1, elements: integers(value..<(value + 3)), at: place)
                model.insert(contentsOf: [value, value + 1, value + 2], at: place)
            case 1:
                try collections.remove(owners, RowKey(1), column: 1, range: place..<(place + 2))
                model.removeSubrange(place..<(place + 2))
            case 2:
                try collections.set(owners, RowKey(1), column: 1, elements: integers(value..<(value + 2)), at: place)
                model.replaceSubrange(place..<(place + 2), with: [value, value + 1])
            default:
                let target = Int(random.below(UInt64(model.count - 3)))
                try collections.move(owners, RowKey(1), column: 1, range: place..<(place + 3), to: target)
                let moved = Array(model[place..<(place + 3)])
                model.removeSubrange(place..<(place + 3))
                model.insert(contentsOf: moved, at: target)
            }
        }

        func salvaged(_ data: [UInt8]) throws -> (report: SalvageReport, list: [CollectionPair]) {
            let salvaged = try SalvagedStore.from(data, log: log, settings: SalvageOptions()) { view, _ in
                try CollectionHistory.pairs(view, 1, 1)
            }
            return (salvaged.report, salvaged.found)
        }
    }

    /// Operations on elements use places, so placeholders replace lost elements during the replay.
    @Test("the log's places stay correct although elements are lost", arguments: 0...7)
    func log(leaf number: Int) throws {
        let list = try LoggedList(leaf: number)
        #expect(list.lost.places.count > 2)
        var damaged = list.data
        let start = list.lost.page * Format.pageSize
        damaged.replaceSubrange(start..<(start + 64), with: repeatElement(0, count: 64))
        let found = try list.salvaged(damaged)
        #expect(found.list == list.model.compactMap { $0.map { CollectionPair(value: .integer($0)) } })
        #expect(found.report.tables[CollectionHistory.owners].lostElements.map(\.places) == [[list.lost.places]])
        let whole = try list.salvaged(list.data)
        #expect(whole.report.isWhole && whole.list.count == list.model.count)
    }
}
