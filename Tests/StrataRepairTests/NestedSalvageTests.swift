import StrataFiles
import StrataRepair
import Testing

@testable import StrataStorage
@testable import StrataStorageTests

/// Nested collections that lose each node in turn.
@Suite struct NestedSalvageTests {
    private func salvage(_ data: [UInt8]) throws -> (report: SalvageReport, model: NestedHistory.Model) {
        let salvaged = try SalvagedStore.from(data) { view, _ in try NestedHistory.contents(view) }
        return (salvaged.report, salvaged.found)
    }

    private static func elements(_ model: NestedHistory.Model) -> Int {
        func count(_ value: NestedValue) -> Int { value.pairs.reduce(value.count) { $0 + count($1.value) } }
        return model.values.reduce(0) { $0 + $1.reduce(0) { $0 + count($1) } }
    }

    /// A store, and the nodes of all its trees.
    private static func make(
        _ seed: UInt64
    ) throws -> (data: [UInt8], trees: [NodeReference], history: NestedHistory) {
        let disk = FileImages.Disk()
        var options = FileImages.options(on: disk)
        options.logHalfBytes = 1 << 20
        let store = try Store.open(path: FileImages.path, options: options)
        var history = NestedHistory(seed: seed)
        history.longest = 60
        for round in 0..<8 {
            let transaction = try store.beginWrite()
            if round == 0 { try transaction.apply(schema: NestedHistory.schema) }
            for _ in 0..<8 { try history.step(transaction) }
            try transaction.commit()
        }
        var trees: [NodeReference] = []
        do {
            let view = try store.snapshot().view
            for key in try view.keys(0) {
                for column in 0..<2 {
                    let shape = try view.collectionShape(0, RowKey(key), column)
                    guard case .tree(let root, _) = try view.collectionCell(0, RowKey(key), column) else { continue }
                    try CollectionNodes(nodes: view.reader, shape: shape).forEach(root) { trees.append($0) }
                }
            }
        }
        try store.close()
        return (try disk.bytes(FileImages.path) ?? [], trees, history)
    }

    /// The elements of a node that is a list's leaf, no element of which is a collection; nil for others.
    private static func plainElements(_ data: [UInt8], _ reference: NodeReference) -> Int? {
        data.withUnsafeBytes { bytes in
            guard reference.is(.collectionLeaf), let base = bytes.baseAddress else { return nil }
            let leaf = CollectionLeaf(base + Int(reference.page) * Format.pageSize)
            let isPlain =
                leaf.keys == nil
                && (0..<leaf.count).allSatisfy { slot in
                    let value = leaf.values.cellValue(slot)
                    return value.long == nil && NestedCollection.parse(value.cell.bytesValue) == nil
                }
            return isPlain ? leaf.count : nil
        }
    }

    @Test(
        "a sound store is salvaged whole, a lost node costs only what is below it", arguments: [1, 2, 3] as [UInt64])
    func lostNodes(seed: UInt64) throws {
        let (data, trees, history) = try Self.make(seed)
        let (sound, model) = try salvage(data)
        #expect(sound.isWhole && model == history.model)
        let all = Self.elements(history.model)
        var (nested, changes) = (0, 0)
        for reference in trees where !reference.is(.value) {
            let start = Int(reference.page) * Format.pageSize
            let isNested = data.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return false }
                let kind: NodeKind = reference.is(.collectionLeaf) ? .collectionLeaf : .collectionBranch
                return LooseCollectionNode(base + start, kind).isNested
            }
            var damaged = data
            damaged.replaceSubrange(start..<(start + 64), with: repeatElement(0, count: 64))
            let (report, found) = try salvage(damaged)
            let note: Comment = "seed \(seed), page \(reference.page)"
            #expect(!report.isWhole, note)
            let rows = found.keys.sorted()
            #expect(rows == history.model.keys.sorted(), note)
            let changed = rows.flatMap { key in
                (0..<2).filter { found[key]?[$0] != history.model[key]?[$0] }.map { "\(key).\($0)" }
            }
            // No other collection is affected.
            #expect(changed.count <= 1, note)
            #expect(Self.elements(found) <= all, note)
            if isNested {
                // Nulls replace the elements of a lost leaf. An inner list of one leaf becomes a null in the list that
                // contains it; in a map its key is lost, too.
                if let lost = Self.plainElements(data, reference) {
                    let missing = all - Self.elements(found)
                    #expect([0, lost, lost + 1].contains(missing), "\(note): \(missing) missing of \(lost)")
                }
                nested += 1
                changes += changed.count
            } else if reference.is(.collectionLeaf) {
                #expect(changed.count == 1 && Self.elements(found) < all, note)
            }
        }
        // A leaf may have contained only nulls.
        #expect(2 * changes > nested, "\(changes) of \(nested)")
        #expect(nested > 3, "\(nested)")
    }
}
