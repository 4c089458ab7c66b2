import StrataFiles
import Synchronization
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

/// After the loss of a map's branch its leaves were once salvaged in another order than the log assumed. The new map
/// had a duplicate key out of order: its check reported damage, and lookups missed keys.
@Suite struct ReplayedOrderTests {
    private static let ages = 7
    private static let members = 5

    private static func key(_ number: Int) -> CollectionValue { .bytes(Array("key \(100 + number)".utf8)) }

    private struct Image {
        var data: [UInt8]
        var log: [UInt8]
        var file: CraftedFile
    }

    /// A map and a set of sixty elements that are trees in the checkpoint, and a log with changes.
    /// - Parameter change: makes the log's commits for every third element.
    private static func make(_ change: (_ store: Store, _ number: Int) throws -> Void) throws -> Image {
        let disk = FileImages.Disk()
        var options = FileImages.options
        options.fileSystem = disk
        let store = try Store.open(path: FileImages.path, options: options)
        var history = CollectionHistory(seed: 3)
        history.longest = 1
        var transaction = try store.beginWrite()
        try transaction.apply(schema: CollectionHistory.schema)
        try history.insertRow(transaction, 1)
        try transaction.commit()
        transaction = try store.beginWrite()
        try history.set(
            transaction, 1, ages, (0..<60).map { CollectionPair(key: key($0), value: .integer(Int64($0))) })
        try history.set(transaction, 1, members, (0..<60).map { CollectionPair(value: .integer(Int64($0 * 7))) })
        try transaction.commit()
        for number in stride(from: 0, to: 60, by: 3) { try change(store, number) }
        store.checkpoints.log.close()
        let data = try disk.bytes(FileImages.path) ?? []
        return Image(
            data: data, log: try disk.bytes(Store.logPath(FileImages.path)) ?? [], file: CraftedFile(data))
    }

    /// Removes an element and inserts it again, in the map with another value.
    private static func insertAgain(_ store: Store, _ number: Int) throws {
        var transaction = try store.beginWrite()
        for column in [ages, members] {
            try transaction.collections.remove(0, RowKey(1), column: column, range: number..<(number + 1))
        }
        try transaction.commit()
        transaction = try store.beginWrite()
        let name = Array("key \(100 + number)".utf8)
        try name.withUnsafeBytes {
            try transaction.collections.insert(
                0, RowKey(1), column: ages, one: .integer(Int64(1000 + number)), mapKey: .bytes($0), at: number)
        }
        let member = Cell.integer(Int64(number * 7))
        try transaction.collections.insert(0, RowKey(1), column: members, one: member, at: number)
        try transaction.commit()
    }

    /// Sets a value of the map.
    private static func setValue(_ store: Store, _ number: Int) throws {
        let transaction = try store.beginWrite()
        let value = Cell.integer(Int64(1000 + number))
        let elements = CollectionElements(CollectionColumn(.integer))
        elements.append(value)
        try transaction.collections.set(0, RowKey(1), column: ages, elements: elements, at: number)
        try transaction.commit()
    }

    /// Nodes of a column's tree in the checkpoint.
    private static func nodes(_ image: Image, _ kind: NodeKind, _ column: Int) -> [Int] {
        image.file.nodes.indices.filter { index in
            let node = image.file.nodes[index]
            guard node.reference.is(kind) else { return false }
            return image.data.withUnsafeBytes { buffer in
                guard let base = buffer.baseAddress else { return false }
                let id =
                    kind == .collectionLeaf
                    ? CollectionLeaf(base + node.start).column : CollectionBranch(base + node.start).column
                return id == Int(CollectionHistory.schema.tables[0].columns[column].id.rawValue)
            }
        }
    }

    private static func zero(_ data: inout [UInt8], _ image: Image, _ node: Int) {
        let start = image.file.nodes[node].start
        data.replaceSubrange(start..<(start + 4096), with: repeatElement(0, count: 4096))
    }

    @Test("replaying a log on a set or map with lost nodes keeps order and uniqueness, and is reported")
    func ordered() throws {
        let image = try Self.make(Self.insertAgain)
        var tried = 0
        var leftOut = 0
        for column in [Self.ages, Self.members] {
            let leaves = Self.nodes(image, .collectionLeaf, column)
            let branches = Self.nodes(image, .collectionBranch, column)
            try #require(leaves.count > 3 && !branches.isEmpty, "no trees: \(leaves.count), \(branches.count)")
            for leaf in leaves {
                var data = image.data
                for branch in branches { Self.zero(&data, image, branch) }
                Self.zero(&data, image, leaf)
                // Checks the new store.
                let (report, found) = try SalvagedStore.from(data, log: image.log) { view, _ in
                    try CollectionHistory.contents(view)
                }
                let pairs = try #require(found.rows[1])[column]
                #expect(CollectionHistory.inOrder(pairs, column) == pairs)
                if column == Self.ages {
                    // The log's values are newer than salvaged ones.
                    for number in stride(from: 0, to: 60, by: 3) {
                        let found = pairs.first { $0.key == Self.key(number) }?.value
                        #expect(found == nil || found == .integer(Int64(1000 + number)), "key \(number)")
                    }
                }
                let losses = report.tables[0].lostElements.filter { $0.key == 1 }
                #expect(losses.count == 1 && !report.isWhole)
                leftOut += losses.reduce(0) { $0 + $1.leftOut }
                tried += 1
            }
        }
        #expect(tried > 6 && leftOut > 0, "\(tried) tried, \(leftOut) left out")
    }

    /// The log names no key for the value that it sets. The salvaged map once had these values under an empty key.
    @Test("a value that the log sets at a lost place of a map makes no entry")
    func lostKeys() throws {
        let image = try Self.make(Self.setValue)
        let leaves = Self.nodes(image, .collectionLeaf, Self.ages)
        try #require(leaves.count > 3, "no tree: \(leaves.count)")
        for leaf in leaves {
            var data = image.data
            Self.zero(&data, image, leaf)
            let (report, pairs) = try SalvagedStore.from(data, log: image.log) { view, _ in
                try CollectionHistory.pairs(view, 1, Self.ages)
            }
            let lost = try #require(report.tables[0].lostElements.first?.places.first)
            #expect(lost.count > 2)
            let kept = (0..<60).filter { !lost.contains($0) }
            let expected = kept.map {
                CollectionPair(key: Self.key($0), value: .integer(Int64($0 % 3 == 0 ? 1000 + $0 : $0)))
            }
            #expect(pairs == expected, "without the elements \(lost)")
        }
    }

    @Test("a store with a faulty write never gets its final name") func readBack() throws {
        let image = try FileImages.clean(seed: 5, steps: 60)
        let disk = try FileImages.Disk(image)
        var (refused, maps) = (0, 0)
        for number in 0..<40 {
            let altering = AlteringFiles(base: disk, name: ".salvaging", write: number)
            var options = SalvageOptions()
            options.limits = .tiny
            do {
                _ = try Salvage.run(from: FileImages.path, to: "new", fileSystem: altering, options: options)
            } catch {
                refused += 1
                #expect(error.isDamage, "\(error)")
                #expect(try disk.status("new") == nil && disk.status("new.salvaging") == nil)
                continue
            }
            // The altered bytes were overwritten later, or none were altered, or they are in the free map, which is
            // written last.
            var plain = FileImages.options
            plain.fileSystem = disk
            do {
                let store = try Store.open(path: "new", options: plain)
                defer { do { try store.close() } catch {} }
                #expect(try StoreHistory.contents(store.snapshot().view) == image.model)
                try store.checkInvariants()
            } catch {
                maps += 1
            }
            try disk.remove("new")
        }
        #expect(refused > 5 && maps <= 2, "\(refused) refused, \(maps) maps")
    }
}

/// Files in which one write silently changes a byte in its middle.
private final class AlteringFiles: FileSystemLayer {
    let base: FileImages.Disk
    private let name: String
    private let counter: WriteCounter

    /// - Parameters:
    ///   - name: the suffix of the file's path.
    ///   - write: the number of the write, from 0.
    init(base: FileImages.Disk, name: String, write: Int) {
        self.base = base
        self.name = name
        counter = WriteCounter(wanted: write)
    }

    func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let file = try base.open(path, mode)
        return path.hasSuffix(name) ? AlteringFile(base: file, counter) : file
    }
}

private final class WriteCounter: Sendable {
    private let left: Mutex<Int>
    init(wanted: Int) { left = Mutex(wanted) }
    func isWanted() -> Bool {
        left.withLock { left in
            left -= 1
            return left == -1
        }
    }
}

private final class AlteringFile: FileLayer {
    let base: any File
    private let counter: WriteCounter

    init(base: any File, _ counter: WriteCounter) {
        self.base = base
        self.counter = counter
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        // Slots have a checksum that their writer relies on.
        guard offset >= 8192, counter.isWanted() else { return try base.write(bytes, at: offset) }
        var altered = Array(bytes)
        altered[altered.count / 2] ^= 0x40
        var failure: FileError?
        altered.withUnsafeBytes { buffer in
            do throws(FileError) { try base.write(buffer, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
