import CXXHash
internal import StrataFiles

extension ProcessTable {
    /// Makes the table afresh, whatever an earlier life left in its file. Nobody else has the store open.
    static func make(
        _ data: any File, _ options: StoreOptions, path: String
    ) throws(StorageError) -> ProcessTable {
        let lockPath = Self.path(path)
        do throws(FileError) {
            // Not written over: processes may still map it that have a file open which this one has replaced.
            if try options.fileSystem.status(lockPath) != nil { try options.fileSystem.remove(lockPath) }
            let file = try options.fileSystem.open(lockPath, .createNew)
            // A hole would be filled when it is stored to, and a full disk would then be a signal.
            try file.preallocate(to: Int64(Layout.bytes))
            let memory = try file.mapShared(count: Layout.bytes)
            try memory.initializeLock()
            let status = try data.status()
            let session = options.fileSystem.randomBits()
            memory.store64(Layout.deviceOffset, status.device)
            memory.store64(Layout.inodeOffset, status.inode)
            memory.store64(Layout.sessionOffset, session)
            memory.store32(Layout.usesLogOffset, options.durability == .none ? 0 : 1)
            memory.store32(Layout.phaseOffset, 1)
            memory.store32(Layout.slotCountOffset, UInt32(Layout.slots))
            memory.store32(Layout.versionOffset, Layout.version)
            memory.store64(Layout.magicOffset, Layout.magic)
            let identity = Self.identity(session, try file.status().inode)
            let place = Place(path: lockPath, memory: memory, file: file, data: data, options: options)
            guard try data.tryLock(byte: LockByte.slot(0), exclusive: true) else {
                throw FileError(.lock, path: lockPath, errno: 0)
            }
            _ = try data.tryLock(byte: LockByte.table(identity), exclusive: false)
            _ = try data.tryLock(byte: LockByte.attached, exclusive: false)
            let table = ProcessTable(place, slot: 0, isMaker: true, identity: identity)
            memory.store32(table.ownOffset + Layout.stateOffset, 1)
            // Known without a look at all slots, each of which is a page to be fetched.
            memory.store32(Layout.attachedOffset, 1)
            memory.fence()
            return table
        } catch {
            // Half of it helps nobody. What failed first is what has to be said.
            do throws(FileError) { try options.fileSystem.remove(lockPath) } catch {}
            throw StorageError(error)
        }
    }

    /// Takes a place at the table of those who have the store open. This process has the shared lock on
    /// ``LockByte/open``, and somebody is attached.
    /// - Throws: `lockFile` when the file beside the store is not theirs; `limit(.processes)`; `settingsDiffer`.
    static func attach(
        _ data: any File, _ options: StoreOptions, path: String
    ) throws(StorageError) -> ProcessTable {
        let place = try open(data, options, path: path)
        let memory = place.memory
        let identity: UInt64
        do throws(FileError) {
            identity = Self.identity(memory.load64(Layout.sessionOffset), try place.file.status().inode)
            // Only those who map this very file have this lock.
            guard try data.isLocked(byte: LockByte.table(identity)) else {
                throw FileError(.lock, path: path, errno: 0)
            }
        } catch {
            throw .lockFile(path: place.path)
        }
        let usesLog: UInt32 = options.durability == .none ? 0 : 1
        if !options.readOnly && memory.load32(Layout.usesLogOffset) != usesLog { throw .settingsDiffer(path: path) }
        let guest = ProcessTable(place, slot: 0, isMaker: false, identity: identity)
        return try guest.withLock { () throws(StorageError) -> ProcessTable in
            do throws(FileError) {
                for slot in 0..<Layout.slots where try data.tryLock(byte: LockByte.slot(slot), exclusive: true) {
                    guest.clear(slot)
                    _ = try data.tryLock(byte: LockByte.table(identity), exclusive: false)
                    _ = try data.tryLock(byte: LockByte.attached, exclusive: false)
                    let table = ProcessTable(place, slot: slot, isMaker: false, identity: identity)
                    memory.store32(table.ownOffset + Layout.stateOffset, 1)
                    table.recount()
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
    ) throws(StorageError) -> Place {
        let lockPath = Self.path(path)
        do throws(FileError) {
            guard try options.fileSystem.status(lockPath) != nil else {
                throw FileError(.open, path: lockPath, errno: 0)
            }
            let file = try options.fileSystem.open(lockPath, .write)
            guard try file.size() >= Int64(Layout.bytes) else { throw FileError(.read, path: lockPath, errno: 0) }
            let memory = try file.mapShared(count: Layout.bytes)
            let status = try data.status()
            guard memory.load64(Layout.magicOffset) == Layout.magic,
                memory.load32(Layout.versionOffset) == Layout.version,
                memory.load32(Layout.slotCountOffset) == UInt32(Layout.slots),
                memory.load64(Layout.deviceOffset) == status.device, memory.load64(Layout.inodeOffset) == status.inode
            else { throw FileError(.read, path: lockPath, errno: 0) }
            return Place(path: lockPath, memory: memory, file: file, data: data, options: options)
        } catch {
            if error.errno == 0 { throw .lockFile(path: lockPath) }
            throw StorageError(error)
        }
    }

    private static func identity(_ session: UInt64, _ inode: UInt64) -> UInt64 {
        let words = [session, inode]
        return words.withUnsafeBytes { XXH3_64bits($0.baseAddress, $0.count) }
    }
}
