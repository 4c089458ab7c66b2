internal import StrataFiles

/// A version that the owner of writing has published to all processes, or lent to a guest as the base of a grant.
struct PublishedVersion: Equatable {
    /// Number of the publication, or of the grant.
    var number: UInt64
    var version: UInt64
    var root: NodeReference
    var file: FileExtent
}

/// The process table's records of published versions. The newest is the one that readers of all processes pin.
struct PublishedVersions: Sendable {
    typealias Layout = ProcessTable.Layout

    let file: ProcessTableFile
    private var memory: any SharedMemory { file.memory }

    /// Counts publications, so that a change is seen without reading the version.
    var publication: UInt64 { memory[Layout.publication] }

    /// Publishes a version as the newest. The owner of writing calls it, under its store's lock.
    /// - Returns: the number of this publication.
    @discardableResult
    func publish(_ version: UInt64, _ root: NodeReference, _ file: FileExtent) -> UInt64 {
        let number = publication &+ 1
        put(PublishedVersion(number: number, version: version, root: root, file: file), Layout.version(number))
        memory[Layout.publication] = number
        memory.fence()
        return number
    }

    /// The newest version. The owner reuses a record eight publications later, so the caller's thread repeats a read
    /// during which the owner has published.
    /// - Throws: `lockFile` if the record's checksum does not match although no publication came in between.
    func newest() throws(StorageError) -> PublishedVersion {
        while true {
            let number = publication
            let found = get(number, Layout.version(number))
            memory.fence()
            if publication != number { continue }
            guard let found else { throw .lockFile(path: file.path) }
            return found
        }
    }

    /// Stores a version under a checksum that includes its number.
    func put(_ version: PublishedVersion, _ words: Layout.Version) {
        let root = version.root
        let place = UInt64(root.page) | UInt64(root.pages) << 32 | UInt64(root.kindCode) << 48
        let pages = version.file.bits
        memory[words.version] = version.version
        memory[words.place] = place
        memory[words.rootChecksum] = root.checksum
        memory[words.birth] = root.birth
        memory[words.filePages] = pages
        memory[words.checksum] = Self.checksum(
            (version.number, version.version, place, root.checksum, root.birth, pages))
    }

    /// End of the contents in the newest publication or the last grant, the larger one: no version that another process
    /// has seen reaches a page behind it. Nil if one of the records is damaged.
    var endOfContents: Int? {
        let (published, lent) = (publication, memory[Layout.lastGrant])
        guard let newest = get(published, Layout.version(published)) else { return nil }
        guard let base = get(lent, Layout.base) else { return lent == 0 ? newest.file.contents : nil }
        return max(newest.file.contents, base.file.contents)
    }

    /// Loads the version that ``put(_:_:)`` stored under this number; nil if its checksum differs.
    func get(_ number: UInt64, _ words: Layout.Version) -> PublishedVersion? {
        let place = memory[words.place]
        let version = memory[words.version]
        let pages = memory[words.filePages]
        var root = NodeReference.null
        root.page = UInt32(truncatingIfNeeded: place)
        root.pages = UInt16(truncatingIfNeeded: place >> 32)
        root.kindCode = UInt8(truncatingIfNeeded: place >> 48)
        root.checksum = memory[words.rootChecksum]
        root.birth = memory[words.birth]
        let checksum = Self.checksum((number, version, place, root.checksum, root.birth, pages))
        guard memory[words.checksum] == checksum, version < Format.versionLimit, root.birth < Format.versionLimit
        else { return nil }
        return PublishedVersion(number: number, version: version, root: root, file: FileExtent(bits: pages))
    }

    private static func checksum(_ words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)) -> UInt64 {
        withUnsafeBytes(of: words, ProcessTableFile.checksum)
    }
}
