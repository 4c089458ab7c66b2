import Platform
import StrataFiles
import Testing

@testable import StrataStorage

@Suite struct FormatFixtureTests {
    @Test("the fixture is reproducible, has every kind of node, and opens with its contents")
    func deterministic() throws {
        let (bytes, model) = try FormatFixture.make()
        #expect(try FormatFixture.make().bytes == bytes)
        let kinds = Set(CraftedFile(bytes).nodes.map(\.reference.kindCode))
        #expect(kinds == Set(1...9))
        let disk = FileImages.Disk()
        try disk.put(bytes, at: FileImages.path)
        var options = FileImages.options(on: disk)
        options.readOnly = true
        let store = try Store.open(path: FileImages.path, options: options)
        try store.checkInvariants()
        #expect(try StoreHistory.contents(store.snapshot().view) == model)
        try store.close()
        guard let path = getenv("FORMAT_FIXTURE").map({ String(cString: $0) }) else { return }
        let file = try POSIXFileSystem().open(path, .createNew)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        file.close()
        print("digest of the contents: \(String(FormatFixture.digest(model), radix: 16))")
    }

    /// Do not rewrite the file or change the digest once a release writes the format: users then have such files.
    @Test("the file of format 2 opens for reading and writing") func forever() throws {
        let bytes = try FormatFixture.bytes(2)
        let disk = FileImages.Disk()
        try disk.put(bytes, at: FileImages.path)
        let options = FileImages.options(on: disk)
        let digest: UInt64 = 0xEF5E_7E4C_0A98_0D55
        for round in 0..<2 {
            let store = try Store.open(path: FileImages.path, options: options)
            try store.checkInvariants()
            if round == 0 {
                #expect(FormatFixture.digest(try StoreHistory.contents(store.snapshot().view)) == digest)
                #expect(store.newestVersion == TransactionID(10))
            }
            let transaction = try store.beginWrite()
            for key in try transaction.view.keys(StoreHistory.dogs).prefix(3) {
                try transaction.delete(StoreHistory.dogs, RowKey(key))
            }
            try transaction.commit()
            try store.checkInvariants()
            try store.close()
        }
    }
}

/// Offsets of docs/file-format.md, read from a real file independently of the store's code.
@Suite struct FormatOffsetTests {
    private let bytes: [UInt8]
    private let file: CraftedFile

    init() throws {
        bytes = try FormatFixture.make().bytes
        file = CraftedFile(bytes)
    }

    private func number(_ offset: Int, _ width: Int) -> Int {
        (0..<width).reduce(0) { $0 | Int(truncatingIfNeeded: UInt64(bytes[offset + $1]) << UInt64(8 * $1)) }
    }

    /// The page, length and kind of the reference at an offset.
    private func reference(_ offset: Int) -> (page: Int, pages: Int, kind: Int) {
        (number(offset, 4), number(offset + 4, 2), number(offset + 6, 1))
    }

    private func starts(_ kind: NodeKind) -> [Int] { file.nodes.filter { $0.reference.is(kind) }.map(\.start) }

    @Test("header slots: magic, version, checkpoint, references and pages stand where the document says")
    func slots() {
        for slot in [0, 4096] {
            #expect(Array(bytes[slot..<(slot + 8)]) == Array("STRATA1\0".utf8))
            #expect(number(slot + 8, 4) == 2 && number(slot + 12, 4) == 0)
            #expect(number(slot + 128, 4) == slot / 4096)
            #expect(number(slot + 40, 8) == 10)
            #expect(reference(slot + 48).kind == 7 && [9, 10].contains(reference(slot + 72).kind))
            #expect(number(slot + 96, 8) * 4096 <= bytes.count)
            #expect(bytes[(slot + 512)..<(slot + 4096)].allSatisfy { $0 == 0 })
        }
        #expect(Array(bytes[16..<32]) == Array(bytes[4112..<4128]))
        #expect(abs(number(32, 8) - number(4128, 8)) == 1)
    }

    @Test("every node starts with kind, table, birth and the checksum of its reference") func nodes() {
        for node in file.nodes {
            #expect(number(node.start, 1) == Int(node.reference.kindCode))
            #expect(number(node.start + 1, 3) == 0)
            #expect(number(node.start + 8, 8) == Int(node.reference.birth))
            #expect(UInt64(bitPattern: Int64(number(node.start + 16, 8))) == node.reference.checksum)
        }
    }

    @Test("the root leads to the schema, tables and their trees; the schema says its length") func roots() throws {
        let root = try #require(starts(.root).first)
        #expect(number(root + 24, 8) == 10 && number(root + 56, 4) == 2)
        let schema = reference(root + 32)
        #expect(schema.kind == 8)
        let tables = root + 64
        #expect(number(tables, 4) == 1 && reference(tables + 16).kind == 1)
        let trees = number(tables + 4, 4)
        // Trees: the ordered index of age, the hash index of name, the backlinks of dog and of dogs.
        #expect(trees == 4)
        #expect((0..<trees).map { number(tables + 40 + 32 * $0, 2) } == [1, 2, 4, 5])
        #expect((0..<trees).map { number(tables + 42 + 32 * $0, 1) } == [2, 1, 3, 3])
        let second = tables + 40 + 32 * trees
        #expect(number(second, 4) == 2 && number(root + 60, 4) == second + 40 + 32 - root)
        let text = schema.page * 4096
        #expect(number(text + 24, 4) > 60 && number(text + 32, 1) == 1 && number(text + 33, 8) == 1)
    }

    @Test("branches have keys at 32, rows at 840, references at 1 648") func branches() throws {
        for branch in starts(.branch) {
            let count = number(branch + 24, 2)
            let level = number(branch + 26, 2)
            #expect((1...101).contains(count) && level >= 1)
            for child in 0..<count {
                if child > 0 { #expect(number(branch + 32 + 8 * child, 8) > number(branch + 24 + 8 * child, 8)) }
                #expect(number(branch + 840 + 8 * child, 8) > 0)
                #expect(reference(branch + 1648 + 24 * child).kind == (level == 1 ? 2 : 1))
            }
        }
    }

    @Test("row groups have counts from 24 on, references at 120, and consecutive directories") func groups() {
        for group in starts(.group) {
            let columns = number(group + 30, 2)
            let nodes = number(group + 40, 2)
            for node in 0..<nodes { #expect(reference(group + 120 + 24 * node).kind == 3) }
            let directory = group + 120 + 24 * nodes
            #expect(number(directory, 2) == 0xFFFF && number(directory + 8, 2) == 0xFFFE)
            #expect(columns == 7 || columns == 4)
            let segments = number(group + 42, 2)
            let last = directory + 8 * columns + 8 * (segments - 1)
            #expect(number(last, 2) + number(last + 2, 2) == number(group + 24, 2))
            #expect(number(group + 52, 2) <= number(group + 48, 4))
        }
    }

    @Test("segments nodes list offsets in eighths, and segments start with kind, flags and rows") func segments() {
        for node in starts(.segments) {
            let count = number(node + 24, 2)
            #expect(count > 0)
            for index in 0..<count {
                let segment = node + 8 * number(node + 26 + 2 * index, 2)
                #expect((1...3).contains(number(segment, 1)) && number(segment + 1, 1) < 8)
                #expect((1...4096).contains(number(segment + 2, 2)))
                if number(segment, 1) == 1 { #expect([0, 1, 2, 4, 8].contains(number(segment + 4, 1))) }
            }
        }
    }

    @Test("entry leaves have widths at 26 and bases at 32; branches have highs, totals and references")
    func entries() {
        for leaf in starts(.entryLeaf) {
            let widths = (26...28).map { number(leaf + $0, 1) }
            #expect(number(leaf + 24, 2) > 0 && widths.allSatisfy { [0, 1, 2, 4, 8].contains($0) })
            let size = number(leaf + 24, 2) * widths.reduce(0, +)
            #expect(bytes[(leaf + 48 + size)..<(leaf + 4096)].allSatisfy { $0 == 0 })
        }
        for branch in starts(.entryBranch) {
            let level = number(branch + 26, 1)
            for child in 0..<number(branch + 24, 2) {
                #expect(number(branch + 1376 + 8 * child, 8) > 0)
                let leaf = reference(branch + 2048 + 24 * child)
                #expect(leaf.kind == (level == 1 ? 5 : 6))
                if level == 1 {
                    // The base may be below the leaf's remaining entries.
                    #expect(number(branch + 32 + 8 * child, 8) >= number(leaf.page * 4096 + 32, 8))
                }
            }
        }
    }

    @Test("the map's only node is the header's, and a set bit is an unreachable page") func freeMap() throws {
        #expect(starts(.freeMapRoot) == [])
        let map = reference(72)
        #expect(map.kind == 9 && map.pages == 1)
        let spare = number(map.page * 4096 + 24, 4)
        #expect(spare >= 2 && spare != map.page)
        #expect(bytes[(map.page * 4096 + 28)..<(map.page * 4096 + 64)].allSatisfy { $0 == 0 })
        func isFree(_ page: Int) -> Bool { bytes[map.page * 4096 + 64 + page / 8] >> UInt8(page % 8) & 1 == 1 }
        for page in [0, 1, map.page, spare] { #expect(!isFree(page), "page \(page)") }
        // Slots of deleted rows may still refer to value nodes that were freed, so those are skipped.
        for reached in file.nodes where !reached.reference.is(.value) {
            for page in Int(reached.reference.page)..<Int(reached.reference.page) + Int(reached.reference.pages) {
                #expect(!isFree(page), "page \(page)")
            }
        }
    }
}
