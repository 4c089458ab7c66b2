import Testing

@testable import StrataStorage

@Suite struct NodeHashTests {
    @Test("wide vectors hash as the library does, whatever the length and place") func equalHashes() {
        var random = SplitMix64(seed: 5)
        let bytes = (0..<20_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            for count in Array(0...600) + [1023, 1024, 1025, 4072, 8168, 16_360, 19_990] {
                for start in [0, 1, 8] {
                    #expect(NodeHash.make(base + start, count) == NodeHash.plain(base + start, count), "\(count) bytes")
                }
            }
        }
    }
}
