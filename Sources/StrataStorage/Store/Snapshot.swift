internal import StrataFiles

/// A pinned version. Releasing the view ends the pin.
package struct Snapshot: Sendable {
    package let view: ReadView
    /// Number of the publication that made it the newest version; nil without a process table.
    let publication: UInt64?

    /// - Precondition: the version is pinned for this snapshot.
    init(_ store: Store, _ version: VersionState, _ publication: UInt64? = nil) {
        view = ReadView(version, store.reader, pinnedIn: store)
        self.publication = publication
    }

    /// - Parameter pin: passes to the view.
    init(_ store: Store, _ pin: ReaderPin) {
        (view, publication) = pin.withVersion { version in
            (ReadView(version.state, store.reader, pinnedIn: store, by: pin), version.publication)
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
        case .pinned(let pin):
            let snapshot = Snapshot(self, pin)
            if pin.checksSize, pin.place == nil || knowsSize { try checkOwnSize() }
            return snapshot
        }
    }

    /// Pins the newest visible version under the monitor.
    /// - Parameter reserved: uses up a reserved pin, also if this throws. If not, further readers may pin the version
    ///   without the monitor.
    func snapshot(reserved: Bool) throws(StorageError) -> Snapshot {
        try checkOrigin()
        let commits = commits
        let (snapshot, isOwner) = try commits.monitor.withLock { () throws(StorageError) -> (Snapshot, Bool) in
            if reserved { commits.state.pins.giveBackReserved() }
            if commits.state.isClosed { throw .closed }
            commits.makeRoomForPin()
            if let processes, !commits.state.isOwner {
                try ForeignVersions(commits: commits, processes: processes).pinNewest()
            }
            guard commits.state.pins.pin(commits.state.visible.version) else { throw .limit(.pins) }
            // A writer that shows its own result is no sign of readers.
            if !reserved { commits.shareVisible() }
            return (Snapshot(self, commits.state.visible, commits.publication), commits.state.isOwner)
        }
        if isOwner || knowsSize { try checkOwnSize() }
        return snapshot
    }

    /// Whether a process that does not own writing knows the file's size.
    ///
    /// A snapshot's pin keeps the file open. If another process has written, the limit known here may lie behind the
    /// end to which that process truncated the file, so the size is not checked.
    private var knowsSize: Bool { processes?.ownership.wasTaken != true }

    /// Checks that the file is as long as its pages need. Where it was truncated within a page, the rest of that page
    /// reads as zeros without a signal. Only the owner of writing knows the size.
    func checkOwnSize() throws(StorageError) {
        guard fileSystem.isPersistent else { return }
        while true {
            let ownerships = processes?.ownership.count
            let expected = pages.limit.pages.load(ordering: .acquiring)
            let size: Int64
            do { size = try file.size() } catch { throw StorageError(error) }
            if size >= Int64(expected) * Int64(Format.pageSize) { return }
            // The limit is lowered before the file is truncated.
            if pages.limit.pages.load(ordering: .acquiring) < expected { continue }
            if let processes {
                // A new owner may have truncated the file; the limit follows when this process owns writing again.
                if processes.ownership.wasTaken, !commits.monitor.withLock({ commits.state.isOwner }) { return }
                if processes.ownership.count != ownerships { continue }
            }
            throw cutWhileOpen(to: size)
        }
    }

    /// The error for a file of `size` bytes that was longer.
    func cutWhileOpen(to size: Int64) -> StorageError {
        mark(.cutWhileOpen)
        return .corrupt(
            page: PageNumber(UInt32(clamping: size / Int64(Format.pageSize))),
            offset: Int(size % Int64(Format.pageSize)), reason: .fileTooShort)
    }
}
