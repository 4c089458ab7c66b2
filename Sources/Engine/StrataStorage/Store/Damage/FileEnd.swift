internal import StrataFiles

/// Checks that the data file is as long as its pages need: another program may truncate it while it is open.
///
/// Where a file was truncated within a page, the rest of that page reads as zeros without a signal. Only the owner of
/// writing knows the size.
struct FileEnd {
    private let store: Store
    private var processes: ProcessTable? { store.processes }

    init(_ store: Store) { self.store = store }

    /// As ``check()``, for a reader. A process beside the owner makes no check once any process has written: the limit
    /// that it knows may lie behind the end to which the owner truncated the file.
    /// - Parameter isOwner: this process owned writing when the reader pinned its version.
    func check(isOwner: Bool) throws(StorageError) {
        if isOwner || processes?.ownership.wasTaken != true { try check() }
    }

    /// - Throws: `corrupt` with `fileTooShort`; `file`.
    func check() throws(StorageError) {
        guard store.fileSystem.isPersistent else { return }
        let limit = store.pages.limit
        while true {
            let ownerships = processes?.ownership.count
            let expected = limit.pages.load(ordering: .acquiring)
            let size: Int64
            do { size = try store.file.size() } catch { throw StorageError(error) }
            if size >= Int64(expected) * Int64(Format.pageSize) { return }
            // The limit is lowered before the file is truncated.
            if limit.pages.load(ordering: .acquiring) < expected { continue }
            if let processes {
                // A new owner may have truncated the file; the limit follows when this process owns writing again.
                let isOwner = store.commits.withState { $0.isOwner }
                if processes.ownership.wasTaken, !isOwner { return }
                if processes.ownership.count != ownerships { continue }
            }
            throw Self.cut(to: size)
        }
    }

    /// The error for a file of `size` bytes that was longer.
    static func cut(to size: Int64) -> StorageError {
        mark(.cutWhileOpen)
        return .corrupt(
            page: PageNumber(UInt32(clamping: size / Int64(Format.pageSize))),
            offset: Int(size % Int64(Format.pageSize)), reason: .fileTooShort)
    }
}
