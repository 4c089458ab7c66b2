import Foundation
import Testing

@testable import CoreDataFiles

/// Untrusted archives and compressed bytes.
@Suite struct ArchiveTests {
    #if SQLite
        private static let model = StoreFolder.model
    #else
        private static let model = CoreDataModel(entities: [CoreDataEntity(name: "A")], origin: .modelFile)
    #endif

    @Test("a model round-trips")
    func model() throws {
        let bytes = ArchiveWriter.deflated(ArchiveWriter.bytes(Self.model))
        let read = try #require(Inflate.bytes(bytes).flatMap { ModelArchive.model($0, origin: .modelFile) })
        var wanted = Self.model
        wanted.entities.sort { $0.name < $1.name }
        for index in wanted.entities.indices {
            wanted.entities[index].attributes.sort { $0.name < $1.name }
            wanted.entities[index].relationships.sort { $0.name < $1.name }
        }
        #expect(read == wanted)
    }

    @Test("deflate with fixed and dynamic codes decompresses")
    func inflate() {
        // "aaaaaaaaaabbbbbbbbbb" and 300 bytes of a pattern, by zlib.
        let short: [UInt8] = [0x4B, 0x4C, 0x84, 0x81, 0x24, 0x38, 0x00, 0x00]
        #expect(Inflate.bytes(short) == Array("aaaaaaaaaabbbbbbbbbb".utf8))
        let long: [UInt8] = [
            0xed, 0xca, 0xb1, 0x11, 0x00, 0x30, 0x08, 0x02, 0xc0, 0x59, 0xf1, 0x50, 0x51, 0xf6, 0xef, 0xad,
            0xb2, 0x45, 0xbe, 0x7e, 0xa8, 0x97, 0x88, 0xf4, 0x9a, 0x70, 0x28, 0x73, 0x18, 0x14, 0x59, 0x9e,
            0x81, 0xaa, 0xf1, 0xc3, 0x0b, 0x07,
        ]
        var pattern: [UInt8] = []
        for index in 0..<300 { pattern.append(UInt8((index * index * 7 + index / 3) % 11 + 97)) }
        #expect(Inflate.bytes(long) == pattern)
        #expect(Inflate.bytes([0x03, 0x00]) == [])
        #expect(Inflate.bytes([]) == nil && Inflate.bytes([0x07]) == nil)
    }

    @Test("any bytes give a result or nil: every prefix, and 20 000 changes of a byte or two")
    func hostile() {
        let archive = ArchiveWriter.bytes(Self.model)
        let compressed = ArchiveWriter.deflated(archive)
        var state: UInt64 = 33
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for count in stride(from: 0, to: archive.count, by: 37) {
            _ = ModelArchive.model(Array(archive[..<count]), origin: .modelFile)
            _ = Inflate.bytes(Array(compressed[..<count]))
        }
        for _ in 0..<20_000 {
            var bytes = archive
            bytes[next(bytes.count)] = UInt8(next(256))
            bytes[bytes.count - 1 - next(64)] = UInt8(next(256))
            _ = KeyedArchive(bytes)?.plain()
            if next(20) == 0 { _ = ModelArchive.model(bytes, origin: .modelFile) }
            var packed = (0..<64).map { _ in UInt8(next(256)) }
            packed[0] = UInt8(next(8))
            _ = Inflate.bytes(packed, limit: 1 << 16)
        }
    }

    @Test("decimals keep their digits")
    func decimals() {
        #expect(DecimalBytes.bytes("1.50")?.prefix(1) == [150])
        #expect(DecimalBytes.bytes("-1")?.last == 0xB0)
        #expect(DecimalBytes.bytes(3.0) == DecimalBytes.bytes("3"))
        #expect(DecimalBytes.bytes(0.1) == DecimalBytes.bytes("0.1"))
        #expect(DecimalBytes.bytes("") == nil && DecimalBytes.bytes("1e9999") == nil && DecimalBytes.bytes(.nan) == nil)
    }
}
