/// A file's identity on a disk. Names change; this stays, and is never reused.
package struct Inode: Hashable, Sendable, Comparable, CustomStringConvertible {
    package var number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package var description: String { "inode \(number)" }

    package static func < (one: Inode, other: Inode) -> Bool { one.number < other.number }
}

/// One operation of a trace, in the order in which a program called it.
package struct IORecord: Sendable {
    package enum Action: Sendable, Equatable {
        case create(path: String, inode: Inode)
        /// The bytes that were written: all of them, or fewer when it failed.
        case write(inode: Inode, offset: Int64, bytes: [UInt8])
        case truncate(inode: Inode, size: Int64)
        /// Extends by zeros when the file is shorter.
        case preallocate(inode: Inode, size: Int64)
        case rename(path: String, destination: String)
        case remove(path: String)
        /// A further name of an existing file.
        case link(path: String, inode: Inode)
        case sync(inode: Inode)
        /// Makes the contents in the range durable, and the file's size; no other contents of the file.
        case syncRange(inode: Inode, offset: Int64, count: Int64)
        case syncDirectory(path: String)
        case writeBack(inode: Inode)
    }

    package var identity: FaultIdentity
    package var action: Action
    package var failed: Bool

    package init(_ identity: FaultIdentity, _ action: Action, failed: Bool = false) {
        self.identity = identity
        self.action = action
        self.failed = failed
    }

    /// For people: the position of the operation in its file.
    package var offset: Int64? {
        switch action {
        case .write(_, let offset, _): offset
        case .truncate(_, let size), .preallocate(_, let size): size
        default: nil
        }
    }
}
