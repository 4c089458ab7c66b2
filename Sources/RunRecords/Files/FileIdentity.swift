#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What names of one file have in common.
package struct FileIdentity: Hashable, Sendable {
    private var device: UInt64
    private var number: UInt64

    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
