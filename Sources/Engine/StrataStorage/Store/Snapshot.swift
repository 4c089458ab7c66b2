internal import StrataFiles

/// A pinned version. Releasing the view ends the pin.
package struct Snapshot: Sendable {
    package let view: ReadView
    /// Number of the publication that made it the newest version; nil without a process table.
    let publication: UInt64?

    /// - Precondition: the version is pinned for this snapshot.
    init(_ store: Store, _ version: VersionState, _ publication: UInt64? = nil) {
        view = ReadView(version, store.reader, pin: Pin(of: version.version, in: store))
        self.publication = publication
    }

    /// - Parameter pin: passes to the view.
    init(_ store: Store, _ pin: ReaderPin) {
        (view, publication) = pin.withVersion { version in
            (ReadView(version.state, store.reader, pin: Pin(pin, in: store)), version.publication)
        }
    }

    package var version: TransactionID { view.version }
}

extension Store {
    /// Pins the newest visible version.
    /// - Throws: `closed`, `forked`; `limit(.pins)`; `corrupt` with `fileTooShort` when the file was cut while open:
    ///   the first snapshot of a version checks its size, and one in 64 later ones.
    package func snapshot() throws(StorageError) -> Snapshot {
        try checkOrigin()
        switch commits.readers.pin() {
        case .none: return try snapshot(reserved: false)
        case .outdated(let pin):
            unpin(pin)
            return try snapshot(reserved: false)
        case .pinned(let pin, let checksSize):
            let snapshot = Snapshot(self, pin)
            if checksSize { try FileEnd(self).check(isOwner: pin.place == nil) }
            return snapshot
        }
    }

    /// Pins the newest visible version under the store's lock.
    /// - Parameter reserved: as ``Commits/pinNewest(reserved:)``.
    func snapshot(reserved: Bool) throws(StorageError) -> Snapshot {
        try checkOrigin()
        let newest = try commits.pinNewest(reserved: reserved)
        // Its pin keeps the file open.
        let snapshot = Snapshot(self, newest.version, newest.publication)
        try FileEnd(self).check(isOwner: newest.isOwner)
        return snapshot
    }
}
