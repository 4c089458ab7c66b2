internal import StrataFiles

// A path may come to lead to another file at any time: another process makes the store first, a backup is restored, the
// file is removed. What is decided by path is compared with the file that is open.

extension Store {
    /// Makes a store without a version: two equal slots. It appears at the path whole or not at all, and never over a
    /// file that somebody else made meanwhile.
    static func create(_ path: String, _ options: StoreOptions) throws(FileError) {
        let fileSystem = options.fileSystem
        let (unfinished, plain) = try createUnfinished(path, fileSystem)
        let file = options.dataFile(plain)
        // Nobody opens the file before its name is durable: a commit could be acknowledged and lost with the name.
        defer { release(file) }
        do throws(FileError) {
            _ = try file.tryLock(byte: LockByte.open, exclusive: true)
            try writeFirstSlots(file, RandomID.make(fileSystem))
            try file.syncData()
            try fileSystem.renameNew(unfinished, to: path)
        } catch {
            // What failed is what has to be said, not that its leftovers cannot be removed.
            do throws(FileError) { try fileSystem.remove(unfinished) } catch {}
            if error.isAlreadyThere { return }
            throw error
        }
        try fileSystem.syncDirectory(of: path)
    }

    /// A file under a name that nobody else uses: a fixed one would be shared by all that make the store at once.
    private static func createUnfinished(
        _ path: String, _ fileSystem: any FileSystem
    ) throws(FileError) -> (path: String, file: any File) {
        var attempts = 0
        while true {
            let name = path + ".creating-" + String(fileSystem.randomBits(), radix: 36)
            do throws(FileError) { return (name, try fileSystem.open(name, .createNew)) } catch {
                attempts += 1
                if !error.isAlreadyThere || attempts == 100 { throw error }
            }
        }
    }

    private static func writeFirstSlots(_ file: any File, _ id: RandomID) throws(FileError) {
        let slot = HeaderSlot(storeID: id)
        var second = slot
        second.sequence += 1
        var pages = [UInt8](repeating: 0, count: Format.firstDataPage * Format.pageSize)
        pages.replaceSubrange(0..<Format.slotSize, with: slot.encode())
        pages.replaceSubrange(Format.pageSize..<(Format.pageSize + Format.slotSize), with: second.encode())
        var failure: FileError?
        pages.withUnsafeBytes { bytes in
            do throws(FileError) { try file.write(bytes, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Removes a store that nobody has open, its log first of what stands beside it.
    ///
    /// What a dead process left is no obstacle.
    /// - Returns: whether there was a data file.
    /// - Throws: `inUse` while it is open anywhere; `file`.
    package static func removeFiles(path: String, options: StoreOptions = StoreOptions()) throws(StorageError) -> Bool {
        let fileSystem = options.fileSystem
        do throws(FileError) {
            guard try fileSystem.status(path) != nil else {
                try removeLeftovers(path, fileSystem)
                return false
            }
        } catch {
            throw StorageError(error)
        }
        var options = options
        options.readOnly = false
        let (file, _) = try openLocked(path, options, isAlone: true)
        defer { release(file) }
        do throws(FileError) {
            // The data file first: a log without its data file is never taken for anything.
            try fileSystem.remove(path)
            try removeLeftovers(path, fileSystem)
            try fileSystem.syncDirectory(of: path)
        } catch {
            throw StorageError(error)
        }
        return true
    }

    private static func removeLeftovers(_ path: String, _ fileSystem: any FileSystem) throws(FileError) {
        for leftover in [logPath(path), ProcessTable.path(path), unfinishedPath(path)] {
            if try fileSystem.status(path) == nil, try fileSystem.status(leftover) != nil {
                try fileSystem.remove(leftover)
            }
        }
    }

    /// Whether the path still leads to the file that is open.
    package var isStale: Bool {
        get throws(StorageError) {
            if !fileSystem.isPersistent { return false }
            do throws(FileError) {
                guard let there = try fileSystem.status(path) else { return true }
                return there.device != identity.device || there.inode != identity.inode
            } catch {
                throw StorageError(error)
            }
        }
    }

    /// Refuses to write to a file that the next open would not find. The write gate is held.
    ///
    /// Before each commit that waits for a disk anyway, else before every 64th: the call costs half a microsecond.
    func checkPath() throws(StorageError) {
        if options.durability == .none && writer.commits & 63 != 0 { return }
        if try isStale { throw .stale(path: path) }
    }
}
