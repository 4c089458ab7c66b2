package import StrataFiles

/// 128 random bits that identify a store, or an epoch of the log.
package struct RandomID: Hashable, Sendable {
    package static let size = 16

    package var first: UInt64
    package var second: UInt64

    package init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// A new one, from the file system's source of randomness.
    package static func make(_ fileSystem: any FileSystem) -> RandomID {
        RandomID(fileSystem.randomBits(), fileSystem.randomBits())
    }

    init(_ base: UnsafeRawPointer, _ offset: Int) {
        first = base.u64(offset)
        second = base.u64(offset + 8)
    }

    func store(_ base: UnsafeMutableRawPointer, _ offset: Int) {
        base.put64(offset, first)
        base.put64(offset + 8, second)
    }
}
