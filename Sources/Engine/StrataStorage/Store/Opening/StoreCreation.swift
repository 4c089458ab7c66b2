internal import StrataFiles

/// Makes an empty store: two equal header slots. It appears at the path whole or not at all, and never replaces a file
/// that another process made meanwhile.
struct StoreCreation {
    private let path: String
    private let options: StoreOptions
    /// The path holds an empty file that this process has locked; its place and access rights are taken over.
    private let replacesEmptyFile: Bool

    init(_ path: String, _ options: StoreOptions, replacesEmptyFile: Bool = false) {
        self.path = path
        self.options = options
        self.replacesEmptyFile = replacesEmptyFile
    }

    func run() throws(FileError) {
        let fileSystem = options.fileSystem
        let unfinished: String
        let plain: any File
        do throws(FileError) { (unfinished, plain) = try createUnfinished() } catch {
            if error.isAlreadyThere, error.path == path, options.madeLike == nil { return }
            throw error
        }
        let file = options.dataFile(plain)
        // No process opens the file before its name is durable: otherwise a commit could be acknowledged and lost with
        // the name.
        defer { Store.release(file) }
        do throws(FileError) {
            if options.madeLike != nil { _ = try file.tryLock(byte: LockByte.open, exclusive: true) }
            try writeFirstSlots(file)
            try file.syncData()
            if replacesEmptyFile {
                try fileSystem.rename(unfinished, to: path)
            } else if unfinished != path {
                try fileSystem.renameNew(unfinished, to: path)
            }
        } catch {
            // An error of the removal is dropped: the first error is the one to report.
            do throws(FileError) { try fileSystem.remove(unfinished) } catch {}
            if error.isAlreadyThere { return }
            throw error
        }
        try fileSystem.syncDirectory(of: path)
    }

    /// Creates the file under an unfinished name. The path of a copy is such a name already, which one process alone
    /// uses. If that process dies, the next open of the original, or the next copy to the same place, removes the file.
    private func createUnfinished() throws(FileError) -> (path: String, file: any File) {
        if let original = options.madeLike {
            return (path, try options.fileSystem.open(path, .createBeside(original)))
        }
        return try UnfinishedStore.create(for: path, options, replacesEmptyFile: replacesEmptyFile)
    }

    private func writeFirstSlots(_ file: any File) throws(FileError) {
        let slot = HeaderSlot(storeID: RandomID.make(options.fileSystem))
        var second = slot
        second.sequence += 1
        var pages = [UInt8](repeating: 0, count: Format.firstDataPage * Format.pageSize)
        pages.replaceSubrange(0..<Format.slotSize, with: slot.encode(at: 0))
        pages.replaceSubrange(Format.pageSize..<(Format.pageSize + Format.slotSize), with: second.encode(at: 1))
        var failure: FileError?
        pages.withUnsafeBytes { bytes in
            do throws(FileError) { try file.write(bytes, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// The file in which a store is made before it has its name: `NAME.creating-0` to `NAME.creating-3`.
///
/// The process that makes it holds the lock on ``LockByte/open`` from before the first byte until the file has the
/// store's name. So an unfinished file that can be locked is abandoned: its maker died. A process that finds one locks
/// it, checks that the name still leads to the locked file and that only such a maker can have written its bytes, and
/// removes it. If that happens between a maker's creation and its lock, the maker finds that the name no longer leads
/// to its file, and creates another one.
enum UnfinishedStore {
    /// This many processes can make one store at once; others wait. Few, because an open checks each name.
    private static let names = 4
    /// Microseconds until a maker that found all names taken tries again.
    private static let pause = 1000

    private static func path(_ number: Int, of path: String) -> String { path + ".creating-" + String(number) }

    /// - Returns: a new file that this process has locked.
    /// - Throws: EEXIST with `path` if another process has made the store meanwhile; with another path if all names are
    ///   taken by files that are not of this kind; ``FileError/isKeptOut`` if other makers are still at work after
    ///   ``StoreOptions/openTimeout``.
    static func create(
        for path: String, _ options: StoreOptions, replacesEmptyFile: Bool = false
    ) throws(FileError) -> (path: String, file: any File) {
        let fileSystem = options.fileSystem
        // Makers that begin at the same time try different names first.
        let first = Int(truncatingIfNeeded: fileSystem.randomBits() % UInt64(names))
        var isBeingMade = false
        for _ in 0...(options.openTimeout / pause) {
            var refusal: FileError?
            isBeingMade = false
            for number in 0..<names {
                let name = self.path((first + number) % names, of: path)
                do throws(FileError) {
                    let mode = replacesEmptyFile ? OpenMode.createBeside(path) : .createNew
                    if let file = try create(name, mode, fileSystem) { return (name, file) }
                } catch {
                    // The caller knows only `path`, so the error names it; the unfinished name matters only where it
                    // exists already.
                    guard error.isAlreadyThere else {
                        throw FileError(error.operation, path: path, errno: error.errno)
                    }
                    refusal = error
                }
                if removeIfAbandoned(name, fileSystem) { isBeingMade = true }
            }
            // If another maker has finished, there is no store left to make.
            if !replacesEmptyFile, try fileSystem.status(path) != nil {
                throw FileError(.open, path: path, errno: FileError.alreadyThere)
            }
            if !fileSystem.isShared, let refusal { throw refusal }
            options.scheduling.pause(microseconds: pause)
        }
        if isBeingMade { throw .keptOut(path: path) }
        throw FileError(.open, path: self.path(first, of: path), errno: FileError.alreadyThere)
    }

    /// - Returns: nil if another process took the file for abandoned before this one had locked it.
    private static func create(
        _ name: String, _ mode: OpenMode, _ fileSystem: any FileSystem
    ) throws(FileError) -> (any File)? {
        let file = try fileSystem.open(name, mode)
        do throws(FileError) {
            if try file.tryLock(byte: LockByte.open, exclusive: true), try fileSystem.leads(name, to: file) {
                return file
            }
        } catch {
            // If locking fails, the file is removed. An error of that is dropped: the first error is the one to report.
            do throws(FileError) { if try fileSystem.leads(name, to: file) { try fileSystem.remove(name) } } catch {}
            Store.release(file)
            throw error
        }
        Store.release(file)
        return nil
    }

    /// Removes files of makers that died.
    static func removeAbandoned(of path: String, _ fileSystem: any FileSystem) {
        for number in 0..<names { _ = removeIfAbandoned(self.path(number, of: path), fileSystem) }
    }

    /// Removes an unfinished file whose maker died. A file that cannot be examined or removed is left: it does no harm.
    /// - Returns: whether the file's maker is still at work.
    private static func removeIfAbandoned(_ name: String, _ fileSystem: any FileSystem) -> Bool {
        do throws(FileError) {
            guard let status = try fileSystem.status(name), status.isRegularFile, status.size <= size else {
                return false
            }
            let file = try fileSystem.open(name, .write)
            defer { Store.release(file) }
            guard try file.tryLock(byte: LockByte.open, exclusive: true) else { return true }
            if try isOurs(file), try fileSystem.leads(name, to: file) { try fileSystem.remove(name) }
        } catch {}
        return false
    }

    private static let size = Int64(Format.firstDataPage * Format.pageSize)

    /// Whether a file is empty, or holds the beginning of a new store.
    private static func isOurs(_ file: any File) throws(FileError) -> Bool {
        if try file.size() > size { return false }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        var failure: FileError?
        bytes.withUnsafeMutableBytes { buffer in
            do throws(FileError) { _ = try file.read(into: buffer, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return false }
            return [0, Format.pageSize].allSatisfy { [0, Format.magic].contains((base + $0).u64(0)) }
        }
    }
}

/// Removes a store that is not open anywhere, and the files beside it.
struct StoreRemoval {
    private let path: String
    private let options: StoreOptions

    init(_ path: String, _ options: StoreOptions) throws(StorageError) {
        self.path = try options.resolve(path)
        var options = options
        options.readOnly = false
        self.options = options
    }

    /// - Returns: whether there was a data file.
    func run() throws(StorageError) -> Bool {
        let fileSystem = options.fileSystem
        do throws(FileError) {
            guard try fileSystem.status(path) != nil else {
                try removeLeftovers()
                return false
            }
        } catch {
            throw StorageError(error)
        }
        let (file, _) = try DataFileClaim(path, options, isAlone: true).take()
        defer { Store.release(file) }
        do throws(FileError) {
            // The data file first: a log without its data file is never used. A symbolic link to the data file stays.
            try fileSystem.remove(path)
            try removeLeftovers()
            try fileSystem.syncDirectory(of: path)
        } catch {
            throw StorageError(error)
        }
        return true
    }

    private func removeLeftovers() throws(FileError) {
        let fileSystem = options.fileSystem
        let leftovers = [
            Store.logPath(path), ProcessTable.path(path), OfflineCompaction.unfinishedPath(path),
            LogNames.unfinishedPath(Store.logPath(path)), DamageRecord.path(path),
        ]
        for leftover in leftovers {
            if try fileSystem.status(path) == nil, try fileSystem.status(leftover) != nil {
                try fileSystem.remove(leftover)
            }
        }
        UnfinishedStore.removeAbandoned(of: path, fileSystem)
    }
}
