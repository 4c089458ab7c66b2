internal import StrataFiles

/// Makes a store without a version: two equal slots. It appears at the path whole or not at all, and never over a file
/// that somebody else made meanwhile.
struct StoreCreation {
    private let path: String
    private let options: StoreOptions
    /// A file without a byte stands at the path, which this process has locked: its place and rights are taken over.
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
        // Nobody opens the file before its name is durable: a commit could be acknowledged and lost with the name.
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
            // What failed is what has to be said, not that its leftovers cannot be removed.
            do throws(FileError) { try fileSystem.remove(unfinished) } catch {}
            if error.isAlreadyThere { return }
            throw error
        }
        try fileSystem.syncDirectory(of: path)
    }

    /// A copy has an unfinished name already, and nobody else makes it: a process that dies leaves that one alone, and
    /// the next open of the original takes it away.
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

/// The file that a store is made in before it has its name: `NAME.creating-0` to `NAME.creating-3`.
///
/// Its maker has the lock of an opener on it, from before the first byte until it has its name. So a file of that name
/// whose lock is to be had is nobody's: its maker died. Whoever finds one locks it, sees that the name leads to what is
/// locked and that what is there can only come from such a maker, and then takes it away. A maker who loses the race
/// between making and locking the file sees that the name leads to it no more, and makes another one.
enum UnfinishedStore {
    /// So many can make one store at once; others wait. Few, because an open looks for all of them.
    private static let names = 4
    /// Microseconds until a maker who found all names taken looks again.
    private static let pause = 1000

    private static func path(_ number: Int, of path: String) -> String { path + ".creating-" + String(number) }

    /// - Returns: a new file that this process has locked.
    /// - Throws: EEXIST with `path` when somebody else has made the store meanwhile; with another when all names are
    ///   taken by files that are not of this kind; ``FileError/isKeptOut`` when others are still at it after
    ///   ``StoreOptions/openTimeout``.
    static func create(
        for path: String, _ options: StoreOptions, replacesEmptyFile: Bool = false
    ) throws(FileError) -> (path: String, file: any File) {
        let fileSystem = options.fileSystem
        // Those who begin at once begin at different names.
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
                    // The name that whoever opens knows; only what stands in the way has to be told apart.
                    guard error.isAlreadyThere else {
                        throw FileError(error.operation, path: path, errno: error.errno)
                    }
                    refusal = error
                }
                if removeIfAbandoned(name, fileSystem) { isBeingMade = true }
            }
            // One of those who are at it is done soon; then there is nothing left to be made.
            if !replacesEmptyFile, try fileSystem.status(path) != nil {
                throw FileError(.open, path: path, errno: FileError.alreadyThere)
            }
            if !fileSystem.isShared, let refusal { throw refusal }
            options.scheduling.pause(microseconds: pause)
        }
        if isBeingMade { throw .keptOut(path: path) }
        throw FileError(.open, path: self.path(first, of: path), errno: FileError.alreadyThere)
    }

    /// Nil when somebody took the file for abandoned before it was locked.
    private static func create(
        _ name: String, _ mode: OpenMode, _ fileSystem: any FileSystem
    ) throws(FileError) -> (any File)? {
        let file = try fileSystem.open(name, mode)
        do throws(FileError) {
            if try file.tryLock(byte: LockByte.open, exclusive: true), try fileSystem.leads(name, to: file) {
                return file
            }
        } catch {
            // Where nothing can be locked, nothing is left behind either. What failed first is what has to be said.
            do throws(FileError) { if try fileSystem.leads(name, to: file) { try fileSystem.remove(name) } } catch {}
            Store.release(file)
            throw error
        }
        Store.release(file)
        return nil
    }

    /// Takes away what makers left who died.
    static func removeAbandoned(of path: String, _ fileSystem: any FileSystem) {
        for number in 0..<names { _ = removeIfAbandoned(self.path(number, of: path), fileSystem) }
    }

    /// What cannot be looked at, or not be removed, is left: it harms nobody.
    /// - Returns: whether somebody is still at it.
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

    /// Whether a file holds nothing, or what a store begins with, as far as it was written.
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

/// Removes a store that nobody has open, and what stands beside it.
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
            // The data file first: a log without its data file is never taken for anything. A link to it stays.
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
