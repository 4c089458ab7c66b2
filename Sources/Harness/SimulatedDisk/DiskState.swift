import FaultModel
import Platform
import Seeds
import StrataFiles

/// All mutable state of a simulated disk. Guarded by the disk's mutex.
struct DiskState: Sendable {
    var model: DiskModel
    var base: DiskImage
    var trace: [IORecord] = []
    var injector: FaultInjector
    var random: RandomStream
    var labels = OperationLabels()
    var locks = AdvisoryLocks()
    var space: SpaceAccount
    var maps: [Inode: [MapReference]] = [:]
    var lastInode: UInt64
    var lastHandle = 0

    init(_ settings: SimulatedDisk.Settings, image: DiskImage) {
        model = DiskModel(image)
        base = image
        injector = FaultInjector(settings.faults)
        random = RandomStream(settings.seed.derived(part: "random bits"))
        space = SpaceAccount(image, capacity: settings.capacity)
        lastInode = image.files.keys.map(\.number).max() ?? 0
    }

    /// Drops what belonged to the process that had the disk open: its threads' labels, its locks and its maps.
    mutating func forgetProcess() {
        labels = OperationLabels()
        locks = AdvisoryLocks()
        maps = [:]
    }

    /// Continues the trace of a process that died.
    mutating func resume(_ records: ArraySlice<IORecord>) {
        for record in records { model.apply(record) }
        trace = Array(records)
        space = SpaceAccount(model.current, capacity: space.capacity)
        lastInode = model.current.files.keys.map(\.number).max() ?? lastInode
        injector.skip(records.count)
    }

    /// Names the next operation of a thread and decides whether it fails.
    mutating func decide(_ kind: IOKind, _ role: FileRole, thread: UInt) -> FaultInjector.Decision {
        let (label, actor) = labels.current(thread)
        let decision = injector.next(label: label, actor: actor, role: role, kind: kind)
        if decision.isLasting, decision.effect == .noSpace { space.capacity = space.used }
        return decision
    }

    mutating func record(_ identity: FaultIdentity, _ action: IORecord.Action, failed: Bool = false) {
        let record = IORecord(identity, action, failed: failed)
        model.apply(record)
        trace.append(record)
    }

    func contents(_ inode: Inode) -> FileImage { model.current.files[inode] ?? FileImage() }

    mutating func addMap(_ map: SimulatedMap, of inode: Inode) {
        maps[inode, default: []].removeAll { $0.map == nil }
        maps[inode, default: []].append(MapReference(map: map))
    }

    // MARK: Contents

    mutating func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, of file: OpenFile, thread: UInt
    ) throws(FileError) {
        let decision = decide(.write, file.role, thread: thread)
        var accepted = bytes.count
        var errno: Int32 = 0
        switch decision.effect {
        case nil:
            accepted = space.accept(count: bytes.count, at: offset, of: file.inode)
            errno = ENOSPC
        case .inputOutputError: (accepted, errno) = (0, EIO)
        case .noSpace: (accepted, errno) = (0, ENOSPC)
        case .shortWrite(let limit):
            // The rest of the transfer fails; a program that retries after a short count gets the error.
            accepted = min(limit, space.accept(count: bytes.count, at: offset, of: file.inode))
            errno = EIO
        }
        let failed = accepted < bytes.count || decision.effect != nil
        let part = UnsafeRawBufferPointer(rebasing: bytes[..<accepted])
        space.take(count: accepted, at: offset, of: file.inode)
        record(
            decision.identity, .write(inode: file.inode, offset: offset, bytes: Array(part)), failed: failed)
        for reference in maps[file.inode] ?? [] { reference.map?.write(part, at: offset) }
        if failed { throw FileError(.write, path: file.path, errno: errno) }
    }

    mutating func truncate(_ file: OpenFile, to size: Int64, thread: UInt) throws(FileError) {
        let decision = decide(.truncate, file.role, thread: thread)
        let action = IORecord.Action.truncate(inode: file.inode, size: size)
        if let errno = decision.errno {
            record(decision.identity, action, failed: true)
            throw FileError(.truncate, path: file.path, errno: errno)
        }
        let before = contents(file.inode).size
        record(decision.identity, action)
        space.release(beyond: size, of: file.inode)
        if size < before {
            for reference in maps[file.inode] ?? [] { reference.map?.zero(from: size, to: before) }
        }
    }

    mutating func preallocate(_ file: OpenFile, to size: Int64, thread: UInt) throws(FileError) {
        let decision = decide(.preallocate, file.role, thread: thread)
        let action = IORecord.Action.preallocate(inode: file.inode, size: size)
        var errno = decision.errno
        if errno == nil, space.accept(count: Int(size), at: 0, of: file.inode) < Int(size) { errno = ENOSPC }
        record(decision.identity, action, failed: errno != nil)
        if let errno { throw FileError(.preallocate, path: file.path, errno: errno) }
        space.take(count: Int(size), at: 0, of: file.inode)
    }

    mutating func sync(_ file: OpenFile, thread: UInt) throws(FileError) {
        let decision = decide(.sync, file.role, thread: thread)
        record(decision.identity, .sync(inode: file.inode), failed: decision.errno != nil)
        if let errno = decision.errno { throw FileError(.sync, path: file.path, errno: errno) }
    }

    mutating func writeBack(_ file: OpenFile, thread: UInt) throws(FileError) {
        let decision = decide(.writeBack, file.role, thread: thread)
        record(decision.identity, .writeBack(inode: file.inode), failed: decision.errno != nil)
        if let errno = decision.errno { throw FileError(.writeBack, path: file.path, errno: errno) }
    }

    /// Reads are named and can fail, but are not recorded: a crash after a read equals a crash before it.
    mutating func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, of file: OpenFile, thread: UInt
    ) throws(FileError) -> Int {
        if let errno = decide(.read, file.role, thread: thread).errno {
            throw FileError(.read, path: file.path, errno: errno)
        }
        return contents(file.inode).read(into: buffer, at: offset)
    }

    // MARK: Names

    mutating func create(_ path: String, role: FileRole, thread: UInt) throws(FileError) -> Inode {
        let decision = decide(.create, role, thread: thread)
        let inode = Inode(lastInode + 1)
        record(decision.identity, .create(path: path, inode: inode), failed: decision.errno != nil)
        if let errno = decision.errno { throw FileError(.open, path: path, errno: errno) }
        lastInode += 1
        return inode
    }

    mutating func remove(_ path: String, role: FileRole, thread: UInt) throws(FileError) {
        guard let inode = model.current.entries[path] else { throw FileError(.remove, path: path, errno: ENOENT) }
        let decision = decide(.remove, role, thread: thread)
        record(decision.identity, .remove(path: path), failed: decision.errno != nil)
        if let errno = decision.errno { throw FileError(.remove, path: path, errno: errno) }
        space.release(beyond: 0, of: inode)
    }

    mutating func rename(
        _ path: String, to destination: String, role: FileRole, thread: UInt
    ) throws(FileError) {
        if model.current.entries[path] == nil { throw FileError(.rename, path: path, errno: ENOENT) }
        let replaced = model.current.entries[destination]
        let decision = decide(.rename, role, thread: thread)
        let action = IORecord.Action.rename(path: path, destination: destination)
        record(decision.identity, action, failed: decision.errno != nil)
        if let errno = decision.errno { throw FileError(.rename, path: destination, errno: errno) }
        if let replaced, path != destination { space.release(beyond: 0, of: replaced) }
    }

    mutating func syncDirectory(of path: String, thread: UInt) throws(FileError) {
        let directory = DiskImage.directory(of: path)
        let decision = decide(.syncDirectory, .directory, thread: thread)
        record(decision.identity, .syncDirectory(path: directory), failed: decision.errno != nil)
        if let errno = decision.errno { throw FileError(.syncDirectory, path: directory, errno: errno) }
    }
}

/// A handle's state.
struct OpenFile: Sendable {
    var path: String
    var inode: Inode
    var role: FileRole
}

extension FaultInjector.Decision {
    /// The system's error number; nil when the operation succeeds.
    var errno: Int32? {
        switch effect {
        case nil: nil
        case .noSpace: ENOSPC
        case .inputOutputError, .shortWrite: EIO
        }
    }
}

/// The current logical operation of each thread.
struct OperationLabels: Sendable {
    private var byThread: [UInt: (label: String, actor: String)] = [:]
    private var last = "start"

    mutating func set(_ label: String, actor: String, thread: UInt) {
        byThread[thread] = (label, actor)
        last = label
    }

    func current(_ thread: UInt) -> (label: String, actor: String) {
        byThread[thread] ?? (last, byThread.isEmpty ? "main" : "background")
    }
}
