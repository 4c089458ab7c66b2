/// An operation that may not be on disk yet.
package struct PendingOperation: Sendable {
    package struct Data: Sendable {
        package var firstSector: Int
        /// Whole sectors, as they were in memory right after the write.
        package var content: [UInt8]

        package var sectorCount: Int { content.count / FileImage.sectorSize }

        /// Whether all of its sectors are in a range of bytes.
        func lies(in offset: Int64, count: Int64) -> Bool {
            let sector = Int64(FileImage.sectorSize)
            let start = offset / sector
            let end = (offset + count + sector - 1) / sector
            return Int64(firstSector) >= start && Int64(firstSector + sectorCount) <= end
        }
    }

    package struct Size: Sendable {
        package var before: Int64
        package var after: Int64
    }

    package enum Fate: Sendable {
        /// Not synced yet.
        case open
        /// Contents that a failed sync covered: no later sync writes them again.
        case doubtful
        /// On disk; still listed because it is on top of something uncertain.
        case durable
    }

    /// Its number in the trace.
    package var record: Int
    package var role: FileRole
    /// The file, for changes of contents and size.
    package var inode: Inode?
    package var data: Data?
    package var size: Size?
    package var entry: EntryChange?
    /// For a rename onto another file: the file that replaces it.
    package var replacement: Inode?
    /// Of the contents; of the name or the size if the operation has no contents.
    package var fate: Fate = .open
    /// A size belongs to the file system: after a failed sync, a later one still covers it.
    package var isSizeDurable = false

    /// A write beyond the end of its file.
    var lengthens: Bool {
        guard let size, data != nil else { return false }
        return size.after > size.before
    }

    /// A change of a name, or of a size alone: a file system with a journal logs it.
    var isJournalled: Bool { entry != nil || size != nil && data == nil }

    /// With a journal: the file whose earlier extending writes must be on disk before this change is. It is the file
    /// that a rename puts in the place of another one, or the file whose size is set.
    var rest: Inode? { entry == nil ? (isJournalled ? inode : nil) : replacement }

    /// Whether nothing about it is undecided or uncertain.
    var isDecided: Bool { fate == .durable && (size == nil || isSizeDurable) }

    package init(record: Int, role: FileRole, inode: Inode?, entry: EntryChange? = nil) {
        self.record = record
        self.role = role
        self.inode = inode
        self.entry = entry
    }
}

/// A change to the names of a disk.
package enum EntryChange: Sendable {
    case link(path: String, inode: Inode)
    case unlink(path: String)
    case rename(path: String, destination: String)

    /// The names that it touches.
    package var names: [String] {
        switch self {
        case .link(let path, _), .unlink(let path): [path]
        case .rename(let path, let destination): [path, destination]
        }
    }

    /// The directories that it changes.
    var directories: [String] { names.map(DiskImage.directory) }

    /// The directory whose sync makes it durable.
    package var directory: String {
        switch self {
        case .link(let path, _), .unlink(let path): DiskImage.directory(of: path)
        case .rename(_, let destination): DiskImage.directory(of: destination)
        }
    }

    package func apply(to entries: inout [String: Inode]) {
        switch self {
        case .link(let path, let inode): entries[path] = inode
        case .unlink(let path): entries[path] = nil
        case .rename(let path, let destination):
            if let inode = entries.removeValue(forKey: path) { entries[destination] = inode }
        }
    }
}
