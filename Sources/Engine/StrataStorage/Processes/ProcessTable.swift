internal import StrataFiles

// The state that processes with one store open share. Mutual exclusion never depends on it, but on locks on bytes of
// the data file, which the kernel releases when their process ends. The table lists the processes that wait, the
// visible version, and the pinned versions.
//
// Invariants (10 of docs/file-format.md)
// 1. An opener that has the data file for itself makes the table anew; a process attaches only to a table that a living
//    process is attached to.
// 2. A slot belongs to the process that holds the lock on its byte of the data file. A taken slot without that lock is
//    a dead process's; any holder of the table's lock may clear it.
// 3. A thread holds the table's lock for a few loads, stores and lock calls; it never waits or does I/O meanwhile.
// 4. A field is a single word, or it counts only under another word stored after it, or under a checksum: a process may
//    die between any two stores.
// 5. Whatever bytes the lock file holds, no process crashes, waits for ever or writes beside the owner because of it.

/// This process's membership in the table of all processes that have a store open.
///
/// Concurrency: every member may be called from any thread, except the pins, which the store's lock guards.
final class ProcessTable: Sendable {
    /// Microseconds after which a waiting thread checks that the process it waits for lives.
    static let step = 100_000

    let slots: ProcessSlots
    let versions: PublishedVersions
    let pins: ProcessPins
    let grants: Grants
    let ownership: WritingOwnership
    private let file: ProcessTableFile
    /// Selects the byte of ``LockByte/table(_:)``.
    private let identity: UInt64
    private let ended = ClosedFlag()

    private init(_ file: ProcessTableFile, slot: Int, isMaker: Bool, identity: UInt64) {
        self.file = file
        self.identity = identity
        slots = ProcessSlots(file: file, own: slot)
        versions = PublishedVersions(file: file)
        pins = ProcessPins(slots)
        grants = Grants(slots: slots, versions: versions)
        ownership = WritingOwnership(slots: slots, grants: grants, isMaker: isMaker)
    }

    /// Path of a store's lock file.
    static func path(_ storePath: String) -> String { storePath + ".lock" }

    /// Path of the lock file.
    var path: String { file.path }
    private var data: any File { file.data }
    private var memory: any SharedMemory { file.memory }

    // MARK: Joining

    /// Makes the table anew, whatever its file held. No other process has the store open.
    /// - Throws: `noSpace`, `file`; the lock file is removed then.
    static func make(_ data: any File, _ options: StoreOptions, path: String) throws(StorageError) -> ProcessTable {
        let lockPath = Self.path(path)
        do throws(FileError) {
            let lockFile = try makeFile(lockPath, beside: path, options.fileSystem)
            // Preallocated: a store to a hole of a mapped file raises a signal when the disk is full. The space for
            // guests' records is included, so that guests can delete on a full disk.
            try lockFile.preallocate(to: Int64(Layout.bytes + Grants.recordLimit))
            let file = try ProcessTableFile(lockFile, data: data, options: options)
            let memory = file.memory
            let status = try data.status()
            memory[Layout.device] = status.device
            memory[Layout.inode] = status.inode
            memory[Layout.session] = options.fileSystem.randomBits()
            memory[Layout.usesLog] = options.durability == .none ? 0 : 1
            memory[Layout.phase] = 1
            memory[Layout.slotCount] = UInt32(Layout.slots)
            memory[Layout.version] = Layout.versionNumber
            memory[Layout.magic] = Layout.magicNumber
            let identity = try file.identity()
            guard try data.tryLock(byte: LockByte.slot(0), exclusive: true) else {
                throw FileError.keptOut(path: lockPath)
            }
            let table = ProcessTable(file, slot: 0, isMaker: true, identity: identity)
            try table.lockShared()
            // This does not read the other slots, each of which would fault in a page.
            table.slots.startAlone()
            return table
        } catch {
            // An unfinished table is of no use. An error of the removal is dropped: the first error is the one to
            // report.
            do throws(FileError) { try options.fileSystem.remove(lockPath) } catch {}
            throw StorageError(error)
        }
    }

    /// Makes a lock file that holds no earlier contents.
    ///
    /// This replaces an existing file and does not overwrite it: processes that have an earlier data file of this path
    /// open may still map it. If this process may not remove the file (another user's in a directory with the sticky
    /// bit), it zeroes the table: a process that maps the file then finds its own slot free, and throws `lockFile`.
    private static func makeFile(
        _ lockPath: String, beside path: String, _ fileSystem: any FileSystem
    ) throws(FileError) -> any File {
        guard let status = try fileSystem.status(lockPath) else {
            return try fileSystem.open(lockPath, .createBeside(path))
        }
        do throws(FileError) { try fileSystem.remove(lockPath) } catch {
            guard error.isRefused, status.isRegularFile else { throw error }
            mark(.lockFileTakenOver)
            let file = try fileSystem.open(lockPath, .write)
            let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: Layout.bytes, alignment: 8)
            defer { zeros.deallocate() }
            zeros.initializeMemory(as: UInt8.self, repeating: 0)
            try file.write(UnsafeRawBufferPointer(zeros), at: 0)
            return file
        }
        return try fileSystem.open(lockPath, .createBeside(path))
    }

    /// As ``make(_:_:path:)``; nil if the disk has no room for the table. This process can then use the store without a
    /// table, so that it can delete data from a full disk. Other processes that open it get the error `unshared`.
    static func makeIfThereIsRoom(
        _ data: any File, _ options: StoreOptions, path: String
    ) throws(StorageError) -> ProcessTable? {
        do throws(StorageError) { return try make(data, options, path: path) } catch {
            guard case .noSpace = error else { throw error }
            mark(.noSpaceForProcesses)
            // An error is dropped: the lock only tells other processes why this one keeps them out.
            do throws(FileError) { _ = try data.tryLock(byte: LockByte.unshared, exclusive: true) } catch {}
            return nil
        }
    }

    /// Attaches to the table of the processes that have the store open. This process has the shared lock on
    /// ``LockByte/open``, and another process is attached.
    /// - Throws: `lockFile` if the file beside the store is not their table; `limit(.processes)`; `settingsDiffer`.
    static func attach(_ data: any File, _ options: StoreOptions, path: String) throws(StorageError) -> ProcessTable {
        let file = try open(data, options, path: path)
        let identity: UInt64
        do throws(FileError) {
            identity = try file.identity()
            // Only processes that map this very file hold a lock on the byte of its identity.
            guard try data.isLocked(byte: LockByte.table(identity)) else {
                throw FileError.keptOut(path: path)
            }
        } catch {
            throw .lockFile(path: file.path)
        }
        let usesLog: UInt32 = options.durability == .none ? 0 : 1
        if !options.readOnly && file.memory[Layout.usesLog] != usesLog { throw .settingsDiffer(path: path) }
        return try file.withLock { () throws(StorageError) -> ProcessTable in
            do throws(FileError) {
                for slot in 0..<Layout.slots where try data.tryLock(byte: LockByte.slot(slot), exclusive: true) {
                    let table = ProcessTable(file, slot: slot, isMaker: false, identity: identity)
                    try table.lockShared()
                    table.slots.takeOwn()
                    return table
                }
            } catch {
                throw StorageError(error)
            }
            throw .limit(.processes)
        }
    }

    /// Opens a table that another process made. Checks only that it is a table, and of this data file.
    private static func open(
        _ data: any File, _ options: StoreOptions, path: String
    ) throws(StorageError) -> ProcessTableFile {
        let lockPath = Self.path(path)
        do throws(FileError) {
            guard try options.fileSystem.status(lockPath) != nil else {
                throw FileError(.open, path: lockPath, errno: 0)
            }
            let lockFile = try options.fileSystem.open(lockPath, .write)
            guard try lockFile.size() >= Int64(Layout.bytes) else {
                throw FileError(.read, path: lockPath, errno: 0)
            }
            let file = try ProcessTableFile(lockFile, data: data, options: options)
            let memory = file.memory
            let status = try data.status()
            guard memory[Layout.magic] == Layout.magicNumber, memory[Layout.version] == Layout.versionNumber,
                memory[Layout.slotCount] == UInt32(Layout.slots), memory[Layout.device] == status.device,
                memory[Layout.inode] == status.inode
            else { throw FileError(.read, path: lockPath, errno: 0) }
            return file
        } catch {
            if error.errno == 0 { throw .lockFile(path: lockPath) }
            throw StorageError(error)
        }
    }

    private func lockShared() throws(FileError) {
        _ = try data.tryLock(byte: LockByte.table(identity), exclusive: false)
        _ = try data.tryLock(byte: LockByte.attached, exclusive: false)
    }

    // MARK: State

    /// Whether the file still is the table that this process joined: another program may have truncated or overwritten
    /// it.
    var isIntact: Bool {
        memory[Layout.magic] == Layout.magicNumber && memory[slots.ownWords.state] == 1 && memory.isIntact
    }

    /// Checks the table. A thread does so before it frees or pins pages: only pins in the table tell the owner that
    /// another process needs a page.
    /// - Throws: `lockFile`.
    func confirm() throws(StorageError) { if !isIntact { throw .lockFile(path: path) } }

    /// Orders stores to the table before loads from it.
    func fence() { memory.fence() }

    /// A write or sync failed in one of the processes: no process writes until one opens the store alone.
    var isPoisoned: Bool { memory[Layout.poison] != 0 }

    func poison() {
        memory[Layout.poison] = 1
        memory.fence()
        slots.wakeWaiters()
    }

    /// Counts changes of the damage record beside the store, by any process; 0 if there was none.
    var damageChanges: UInt32 { memory[Layout.damageChanges] }

    /// Makes every process read the damage record again before it next uses it.
    func damageDidChange() {
        memory.increment32(Layout.damageChanges.offset)
    }

    // MARK: Leaving

    /// Whether this process has left the table.
    var isEnded: Bool { ended.isSet }

    /// Locks the store for this process alone, so that no other can open it.
    /// - Returns: false if another process has it open; the lock stays shared then.
    func becomeAlone() throws(StorageError) -> Bool {
        do throws(FileError) { return try data.tryLock(byte: LockByte.open, exclusive: true) } catch {
            throw StorageError(error)
        }
    }

    /// Lets other processes open the store again.
    func admitOthers() throws(StorageError) {
        do throws(FileError) { _ = try data.tryLock(byte: LockByte.open, exclusive: false) } catch {
            throw StorageError(error)
        }
    }

    /// Leaves the table, unless this process is the last one.
    /// - Returns: false if it is the last one: it keeps all others out then.
    func leave() throws(StorageError) -> Bool {
        try file.withLock { () throws(StorageError) in
            if try becomeAlone() { return false }
            slots.clear(slots.own)
            unlockAll()
            return true
        }
    }

    /// Removes the lock file. This process is the last one, and keeps all others out.
    func remove() {
        file.remove()
        unlockAll()
    }

    /// Releases all locks without clearing the slot, as a dying process would.
    func abandon() { unlockAll() }

    private func unlockAll() {
        guard ended.set() else { return }
        let bytes = [
            LockByte.writer, LockByte.slot(slots.own), LockByte.table(identity), LockByte.attached, LockByte.open,
        ]
        for byte in bytes {
            // An error is dropped: the kernel releases the lock when the descriptor is closed.
            do throws(FileError) { try data.unlock(byte: byte) } catch { continue }
        }
        // Threads of this process that wait in the table wake and see that it has left.
        slots.ring(slots.own)
        slots.wakeGuest(slots.own)
    }
}
