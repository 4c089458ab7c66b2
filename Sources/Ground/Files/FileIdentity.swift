import Platform

/// Device and number of a file: all names of one file have the same.
package struct FileIdentity: Hashable, Sendable {
    private var device: UInt64
    private var number: UInt64

    package init(_ status: stat) {
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
