import StrataFiles
import Testing

@testable import StrataStorage

/// Checksums of nodes are seeded by the store's id.
@Suite struct NodeSeedTests {
    private static func open(_ bytes: [UInt8]) throws -> Store {
        let disk = FileImages.Disk()
        try disk.put(bytes, at: FileImages.path)
        return try FileImages.open(disk)
    }

    @Test("no node verifies in a file whose slots name another store") func otherStore() throws {
        let sound = CraftedFile(try FileImages.clean(seed: 3, steps: 40).data)
        try Self.open(sound.bytes).close()
        var file = sound
        for slot in 0...1 { file.changeSlot(slot) { $0[16] ^= 1 } }
        let root = try #require(sound.nodes.first { $0.reference.is(.root) }).reference.page
        #expect(throws: StorageError.corrupt(page: PageNumber(root), offset: 0, reason: .checksum)) {
            try Self.open(file.bytes)
        }
    }

    @Test("the seed is the document's: XXH3 of the id under seed 3, and one more exclusive or") func formula() throws {
        let file = CraftedFile(try FileImages.clean(seed: 4, steps: 40).data)
        #expect(file.seed != .ofFormat1 && Set([1, 2, 3].map { NodeSeed(RandomID($0, 0)) }).count == 3)
        for node in file.nodes {
            file.bytes.withUnsafeBytes { buffer in
                guard let base = buffer.baseAddress else { return }
                let plain = NodeHeader.checksum(
                    base + node.start, count: node.reference.byteCount, birth: node.reference.birth, seed: .ofFormat1)
                #expect(plain ^ file.seed.rawValue == node.reference.checksum)
            }
        }
    }

    @Test("a copy has an id of its own, and nodes under its seed") func copies() throws {
        let disk = FileImages.Disk()
        try disk.put(try FileImages.clean(seed: 5, steps: 40).data, at: FileImages.path)
        let options = FileImages.options(on: disk)
        let store = try Store.open(path: FileImages.path, options: options)
        try store.writeCopy(to: "copy")
        try store.close()
        let before = CraftedFile(try #require(try disk.bytes(FileImages.path)))
        try Store.compact(path: FileImages.path, options: options)
        let files = try [FileImages.path, "copy"].map { CraftedFile(try #require(try disk.bytes($0))) }
        #expect(Set((files + [before]).map(\.seed)).count == 3)
        #expect(files.allSatisfy { !$0.nodes.isEmpty })
    }
}
