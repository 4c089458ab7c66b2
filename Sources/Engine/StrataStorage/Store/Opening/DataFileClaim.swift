internal import StrataFiles

// All processes that have a store open hold the shared lock on `LockByte.open`. A process that must be alone takes the
// exclusive lock: the first opener, which recovers and makes the process table, and the last one to close, which writes
// the checkpoint and removes log and table.

/// Opens a data file and locks it.
struct DataFileClaim {
    /// Kind of access to a data file.
    enum Access {
        /// Exclusive, until other processes are admitted.
        case alone
        /// Shared with readers only; no process writes.
        case readOnly
        /// Shared with processes that have a process table.
        case besideOthers
    }

    private let path: String
    private let options: StoreOptions
    /// Other processes may have the file open at the same time.
    private let isShared: Bool

    init(_ path: String, _ options: StoreOptions, isAlone: Bool) {
        self.path = path
        self.options = options
        isShared = options.fileSystem.isShared && !isAlone
    }

    /// Opens the file and locks it. Tries again if the path leads to another file in between, and while another process
    /// opens, recovers or closes the store.
    /// - Throws: `inUse`, `beingRead`, `unshared` after ``StoreOptions/openTimeout``; `file`.
    func take() throws(StorageError) -> (any File, Access) {
        let fileSystem = options.fileSystem
        var unattached = 0
        // An opener that needs the store alone waits for one that is closing, not for one that uses it.
        let attempts = isShared ? max(1, options.openTimeout / 1000) : fileSystem.isShared ? 50 : 1
        do throws(FileError) {
            for _ in 0..<(attempts + 100) {
                let file = options.dataFile(try fileSystem.open(path, options.readOnly ? .read : .write))
                let access = try lock(file)
                if access != nil, try !fileSystem.leads(path, to: file) {
                    Store.release(file)
                    continue
                }
                switch access {
                case .alone: return (file, .alone)
                case .readOnly where options.readOnly: return (file, .readOnly)
                case .besideOthers:
                    if !options.readOnly { return (file, .besideOthers) }
                    Store.release(file)
                    if let writable = try writableBesideOthers() { return (writable, .besideOthers) }
                    unattached += 1
                case .readOnly:
                    Store.release(file)
                    unattached += 1
                case nil: Store.release(file)
                }
                // A read-only opener that may not write the files cannot attach to the process table later, either.
                if !fileSystem.isShared || options.readOnly && unattached > 100 { break }
                options.scheduling.pause(microseconds: 1000)
            }
            throw FileError.keptOut(path: path)
        } catch {
            if error.isKeptOut { throw keptOut() }
            throw StorageError(error)
        }
    }

    /// The error for an opener that other processes keep out, chosen by the locks that they hold on the file.
    private func keptOut() -> StorageError {
        guard options.fileSystem.isShared else { return .inUse(path: path) }
        do throws(FileError) {
            let file = try options.fileSystem.open(path, options.readOnly ? .read : .write)
            defer { file.close() }
            if try file.isLocked(byte: LockByte.unshared) { return .unshared(path: path) }
            let isShared = try file.tryLock(byte: LockByte.open, exclusive: false)
            if isShared, try !file.isLocked(byte: LockByte.attached) {
                try file.unlock(byte: LockByte.open)
                return .beingRead(path: path, by: file.lockHolders(byte: LockByte.open))
            }
        } catch {
            return .inUse(path: path)
        }
        return .inUse(path: path)
    }

    /// Takes the strongest lock available; nil if another process keeps all others out.
    private func lock(_ file: any File) throws(FileError) -> Access? {
        if !options.readOnly, try file.tryLock(byte: LockByte.open, exclusive: true) { return .alone }
        guard options.readOnly || isShared, try file.tryLock(byte: LockByte.open, exclusive: false) else { return nil }
        if options.fileSystem.isShared, try file.isLocked(byte: LockByte.attached) {
            return isShared ? .besideOthers : nil
        }
        return .readOnly
    }

    /// Opens the file for writing although the store is opened read-only: a process beside writers needs write locks on
    /// bytes of the file.
    /// - Returns: nil if this process may not write the file, or the writers have left.
    private func writableBesideOthers() throws(FileError) -> (any File)? {
        let file: any File
        do throws(FileError) { file = options.dataFile(try options.fileSystem.open(path, .write)) } catch { return nil }
        if try file.tryLock(byte: LockByte.open, exclusive: false), try file.isLocked(byte: LockByte.attached),
            try options.fileSystem.leads(path, to: file)
        {
            return file
        }
        Store.release(file)
        return nil
    }
}
