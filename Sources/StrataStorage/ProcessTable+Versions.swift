internal import StrataFiles

// The fence protocol of pins. A reader stores its pin, fences, and looks whether the version is still the newest; the
// writer makes another version the newest, fences, and scans the pins. One of the two sees the other: either the reader
// tries again, or the writer keeps the pages.

/// What all processes may read from now on.
struct PublishedVersion: Equatable {
    /// Counts publications.
    var number: UInt64
    var version: UInt64
    var root: NodeReference
    /// Pages that the file has room for.
    var pages: Int
}

extension ProcessTable {
    /// Counts publications: says without reading it whether there is another newest version.
    var publication: UInt64 { memory.load64(Layout.publicationOffset) }

    /// Makes a version the newest one. The owner of writing calls it, under its store's monitor.
    func publish(_ version: UInt64, _ root: NodeReference, pages: Int) {
        let number = publication &+ 1
        put(PublishedVersion(number: number, version: version, root: root, pages: pages), Self.place(number))
        memory.store64(Layout.publicationOffset, number)
        memory.fence()
    }

    /// The newest version; a record stays for seven publications, so a torn one is read again.
    var newest: PublishedVersion {
        while true {
            let number = publication
            var found = record(Self.place(number))
            found.number = number
            memory.fence()
            if publication == number { return found }
        }
    }

    func put(_ version: PublishedVersion, _ offset: Int) {
        let root = version.root
        memory.store64(offset, version.version)
        memory.store64(offset + 8, UInt64(root.page) | UInt64(root.pages) << 32 | UInt64(root.kindCode) << 48)
        memory.store64(offset + 16, root.checksum)
        memory.store64(offset + 24, root.birth)
        memory.store64(offset + 32, UInt64(version.pages))
    }

    /// What ``put(_:_:)`` stored, without its number.
    func record(_ offset: Int) -> PublishedVersion {
        let place = memory.load64(offset + 8)
        var root = NodeReference.null
        root.page = UInt32(truncatingIfNeeded: place)
        root.pages = UInt16(truncatingIfNeeded: place >> 32)
        root.kindCode = UInt8(truncatingIfNeeded: place >> 48)
        root.checksum = memory.load64(offset + 16)
        root.birth = memory.load64(offset + 24)
        return PublishedVersion(
            number: 0, version: memory.load64(offset), root: root,
            pages: Int(truncatingIfNeeded: memory.load64(offset + 32)))
    }

    private static func place(_ number: UInt64) -> Int {
        Layout.recordsOffset + Int(number % UInt64(Layout.records)) * Layout.recordBytes
    }

    // MARK: Pins

    /// Says that this process reads a version. It counts if that is the newest one still, looked at afterwards.
    /// - Returns: its place; nil when there is none left.
    func pin(_ version: UInt64) -> Int? {
        let place: Int
        if let unused = unusedPins.popLast() {
            place = unused
        } else {
            if usedPins == Layout.pinsPerSlot { return nil }
            place = usedPins
            usedPins += 1
            memory.store32(ownOffset + Layout.pinsUsedOffset, UInt32(usedPins))
        }
        memory.store64(ownOffset + Layout.pinsOffset + 8 * place, version &+ 1)
        memory.fence()
        return place
    }

    func unpin(_ place: Int) {
        memory.store64(ownOffset + Layout.pinsOffset + 8 * place, 0)
        unusedPins.append(place)
    }

    /// Versions that other processes read. After a fence.
    var foreignPins: Set<UInt64> {
        var found: Set<UInt64> = []
        for other in 0..<Layout.slots where other != slot && isTaken(other) {
            let offset = Self.offset(ofSlot: other)
            let used = min(Int(memory.load32(offset + Layout.pinsUsedOffset)), Layout.pinsPerSlot)
            for pin in 0..<used {
                let value = memory.load64(offset + Layout.pinsOffset + 8 * pin)
                if value != 0 { found.insert(value - 1) }
            }
        }
        return found
    }

    /// Forgets processes that died, with their pins.
    func clearDead() throws(StorageError) {
        try withLock { () throws(StorageError) in
            for other in 0..<Layout.slots where other != slot && isTaken(other) {
                if try !isAlive(other) { clear(other) }
            }
        }
    }
}
