internal import StrataFiles

// What the processes that have a store open know of each other. Exclusion never depends on it: that is done by locks on
// bytes of the data file, which go with their process. The table says who waits, which version is visible and which
// ones are pinned.
//
// Invariants (10 of docs/file-format.md)
// 1. The opener who has the data file for itself makes the table afresh; nobody attaches to one that no living process
//    is attached to.
// 2. A slot belongs to whoever has the lock on its byte of the data file. A taken slot without that lock is a dead
//    process's, and may be cleared by anyone who holds the table's lock.
// 3. The table's lock is held for a few loads, stores and lock calls, never while waiting or during I/O.
// 4. Each field is one word, or is believed only under another word that is stored after it, or under a checksum: a
//    process may die between any two stores.
// 5. Whatever stands in the lock file, no process ends, waits for ever or writes beside the owner because of it.

/// A process's place at the table of all processes that have a store open.
///
/// Concurrency: every member may be called from any thread, but for the pins, which the store's monitor guards.
final class ProcessTable: Sendable {
    /// Microseconds after which a waiting process looks up what no living process has said.
    static let step = 100_000

    let slots: ProcessSlots
    let versions: PublishedVersions
    let pins: ProcessPins
    let grants: Grants
    let ownership: WritingOwnership
    private let file: ProcessTableFile
    /// What the table's byte of the data file is made of.
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

    /// Of the lock file of a store.
    static func path(_ storePath: String) -> String { storePath + ".lock" }

    /// Of the lock file.
    var path: String { file.path }
    private var data: any File { file.data }
    private var memory: any SharedMemory { file.memory }

    // MARK: Joining

    /// Makes the table afresh, whatever an earlier life left in its file. Nobody else has the store open.
    /// - Throws: `noSpace`, `file`; nothing is left behind then.
    static func make(_ data: any File, _ options: StoreOptions, path: String) throws(StorageError) -> ProcessTable {
        let lockPath = Self.path(path)
        do throws(FileError) {
            let lockFile = try makeFile(lockPath, beside: path, options.fileSystem)
            // A hole would be filled when it is stored to, and a full disk would then be a signal.
            // The records of guests stand behind the table: on a disk that fills up they, too, can still delete.
            try lockFile.preallocate(to: Int64(Layout.bytes + GuestTurn.recordLimit))
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
            // Known without a look at all slots, each of which is a page to be fetched.
            table.slots.startAlone()
            return table
        } catch {
            // Half of it helps nobody. What failed first is what has to be said.
            do throws(FileError) { try options.fileSystem.remove(lockPath) } catch {}
            throw StorageError(error)
        }
    }

    /// A lock file that holds nothing of an earlier life.
    ///
    /// One that stands there is replaced and not written over: processes may still map it that have a data file open
    /// which this one has replaced. Where this process may not remove it, because another user's process left it in a
    /// directory with the sticky bit, it is emptied: who maps it still finds its own slot free then, and refuses.
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

    /// As ``make(_:_:path:)``; nil where the disk has no room for it. A store that is open alone needs no table, and
    /// what fills the disk can be deleted. Others learn why they are kept out.
    static func makeIfThereIsRoom(
        _ data: any File, _ options: StoreOptions, path: String
    ) throws(StorageError) -> ProcessTable? {
        do throws(StorageError) { return try make(data, options, path: path) } catch {
            guard case .noSpace = error else { throw error }
            mark(.noSpaceForProcesses)
            // What it is for is a message.
            do throws(FileError) { _ = try data.tryLock(byte: LockByte.unshared, exclusive: true) } catch {}
            return nil
        }
    }

    /// Takes a place at the table of those who have the store open. This process has the shared lock on
    /// ``LockByte/open``, and somebody is attached.
    /// - Throws: `lockFile` when the file beside the store is not theirs; `limit(.processes)`; `settingsDiffer`.
    static func attach(_ data: any File, _ options: StoreOptions, path: String) throws(StorageError) -> ProcessTable {
        let file = try open(data, options, path: path)
        let identity: UInt64
        do throws(FileError) {
            identity = try file.identity()
            // Only those who map this very file have this lock.
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

    /// Opens a table that others made, and believes nothing of it yet but that it is one, of this data file.
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

    // MARK: Looking at it

    /// Whether the file is what this process has joined: somebody may have cut it, or written over it.
    private var isIntact: Bool {
        memory[Layout.magic] == Layout.magicNumber && memory[slots.ownWords.state] == 1 && memory.isIntact
    }

    /// Asked before pages are given up or pinned: what stands in the table is what keeps them.
    /// - Throws: `lockFile`.
    func confirm() throws(StorageError) { if !isIntact { throw .lockFile(path: path) } }

    /// Orders what was stored to the table before what is loaded from it.
    func fence() { memory.fence() }

    /// A write or sync failed in some process: nobody writes any more until an opener is alone.
    var isPoisoned: Bool { memory[Layout.poison] != 0 }

    func poison() {
        memory[Layout.poison] = 1
        memory.fence()
        slots.wakeWaiters()
    }

    /// How often some process changed the record of damage beside the store; 0 where none did.
    var damageChanges: UInt32 { memory[Layout.damageChanges] }

    /// All processes read the record of damage again before they next ask.
    func damageDidChange() {
        memory.increment32(Layout.damageChanges.offset)
    }

    // MARK: Leaving

    /// Whether this process has left the table.
    var isEnded: Bool { ended.isSet }

    /// Whether this process is the only one that has the store open; keeps all others out from then on.
    func becomeAlone() throws(StorageError) -> Bool {
        do throws(FileError) { return try data.tryLock(byte: LockByte.open, exclusive: true) } catch {
            throw StorageError(error)
        }
    }

    /// Lets others in again.
    func admitOthers() throws(StorageError) {
        do throws(FileError) { _ = try data.tryLock(byte: LockByte.open, exclusive: false) } catch {
            throw StorageError(error)
        }
    }

    /// Gives the place up, unless this process is the last one.
    /// - Returns: false when it is: all others are kept out then.
    func leave() throws(StorageError) -> Bool {
        try file.withLock { () throws(StorageError) in
            if try becomeAlone() { return false }
            slots.clear(slots.own)
            unlockAll()
            return true
        }
    }

    /// The last process goes: the file goes with it. All others are kept out.
    func remove() {
        file.remove()
        unlockAll()
    }

    /// Gives everything up without a word, as a process that dies.
    func abandon() { unlockAll() }

    private func unlockAll() {
        guard ended.set() else { return }
        let bytes = [
            LockByte.writer, LockByte.slot(slots.own), LockByte.table(identity), LockByte.attached, LockByte.open,
        ]
        for byte in bytes {
            // A lock that cannot be given back goes with the descriptor.
            do throws(FileError) { try data.unlock(byte: byte) } catch { continue }
        }
        // Whoever waits for this process in this process looks up.
        slots.ring(slots.own)
        slots.wakeGuest(slots.own)
    }
}
