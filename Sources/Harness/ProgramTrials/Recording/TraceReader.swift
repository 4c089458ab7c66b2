import FaultModel
import Files
import Harness
import RunRecords

/// Converts the records of a trace to operations of a disk: the changes of a program to the files of a directory.
///
/// Paths are keys (``BytePath/key``), so that two different names of bytes are never equal.
package struct TraceReader {
    /// Output of the program, and the number of operations before it.
    package struct Words: Sendable {
        package var operations: Int
        package var bytes: [UInt8]
    }

    /// A directory that was created or removed, and the number of operations before it.
    package struct DirectoryChange: Sendable {
        package var operations: Int
        package var path: String
        package var isMade: Bool
    }

    package private(set) var operations: [IORecord] = []
    package private(set) var words: [Words] = []
    package private(set) var directoryChanges: [DirectoryChange] = []
    package private(set) var modeChanges: [ModeChange] = []
    /// Links, FIFOs and sockets.
    package private(set) var nodes: [Inode: FileNode]
    /// Operations that were not understood, as text.
    package private(set) var unseen: [String] = []
    /// Operations that bypassed the recorder, as text.
    package private(set) var past: [String] = []
    /// How often each process loaded the recorder.
    package private(set) var starts: [UInt32: Int] = [:]
    /// The first process, and its parent.
    package private(set) var first: (process: UInt32, parent: Int64)?
    /// Whether the trace has a sync of everything, which `operations` has as one sync of each written file.
    package private(set) var hasWideSync = false

    private let root: String
    private var inodes: [UInt64: Inode]
    private var entries: [String: Inode]
    private var roles: [Inode: FileRole] = [:]
    private var nextInode: UInt64
    /// The processes, numbered in order of appearance.
    private var actors: [UInt32: Int] = [:]
    private var counts: [FaultIdentity: Int] = [:]
    /// The files that a sync of everything has to sync.
    private var dirtyFiles: Set<Inode> = []
    private var dirtyDirectories: Set<String> = []

    /// - Parameters:
    ///   - root: the watched directory, in the kernel's form.
    ///   - start: its content before the run.
    package init(root: String, start: DirectorySnapshot) {
        self.root = BytePath(root).key
        inodes = start.inodes
        entries = start.image.entries
        nodes = start.nodes
        nextInode = UInt64(start.inodes.count)
        for (path, inode) in entries { roles[inode] = FileRole.byName(path) }
    }

    package mutating func take(_ records: [TraceRecord]) {
        for record in records { take(record) }
        unseen = unseen.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        past = past.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// A node's content is durable as soon as its name is: so the nodes exist from the start, without a name.
    package func base(of image: DiskImage) -> DiskImage {
        nodes.reduce(into: image) { image, node in image.files[node.key] = node.value.image }
    }

    private mutating func take(_ record: TraceRecord) {
        switch record.kind {
        case .start:
            starts[record.process, default: 0] += 1
            if first == nil { first = (record.process, record.count) }
        case .end: break
        case .output: words.append(Words(operations: operations.count, bytes: record.data))
        case .unseen: unseen.append(record.path)
        case .past: past.append(record.path)
        case .mode: takeMode(record)
        case .create, .rename, .link, .unlink, .syncDirectory, .node: takeName(record)
        case .makeDirectory, .removeDirectory: takeDirectory(record)
        case .syncAll:
            hasWideSync = true
            takeSyncOfAll(record)
        case .write, .truncate, .preallocate, .sync, .syncRange, .writeBack: takeFile(record)
        }
    }

    // MARK: Names

    private mutating func takeName(_ record: TraceRecord) {
        guard let path = relative(record.path) else { return }
        switch record.kind {
        case .create:
            let inode = Inode(nextInode)
            nextInode += 1
            inodes[record.inode] = inode
            entries[path] = inode
            roles[inode] = FileRole.byName(path)
            changeMode(.file(inode), record)
            add(record, .create, .create(path: path, inode: inode), role: FileRole.byName(path))
        case .node:
            guard makeNode(record, path) else { return unseen.append("a device was made: \(text(path))") }
        case .link:
            guard let inode = inodes[record.inode] else {
                unseen.append("\(text(path)) became a further name of a file that was not watched")
                return
            }
            entries[path] = inode
            add(record, .create, .link(path: path, inode: inode), role: FileRole.byName(path))
        case .unlink:
            guard entries.removeValue(forKey: path) != nil else { return lost(path) }
            add(record, .remove, .remove(path: path), role: FileRole.byName(path))
        case .syncDirectory:
            add(record, .syncDirectory, .syncDirectory(path: path), role: .directory)
            if !record.failed { dirtyDirectories.remove(path) }
            return
        default:
            guard let destination = relative(record.destination) else { return }
            guard let inode = entries.removeValue(forKey: path) else { return lost(path) }
            entries[destination] = inode
            dirtyDirectories.insert(DiskImage.directory(of: destination))
            add(record, .rename, .rename(path: path, destination: destination), role: FileRole.byName(path))
        }
        dirtyDirectories.insert(DiskImage.directory(of: path))
    }

    /// False if it is not a node.
    private mutating func makeNode(_ record: TraceRecord, _ path: String) -> Bool {
        let mode = UInt32(truncatingIfNeeded: record.offset)
        guard let node = FileNode(mode: mode, target: BytePath(key: record.destination).bytes) else { return false }
        let inode = Inode(nextInode)
        nextInode += 1
        inodes[record.inode] = inode
        nodes[inode] = node
        entries[path] = inode
        roles[inode] = FileRole.byName(path)
        if node.hasMode { changeMode(.file(inode), record) }
        add(record, .create, .link(path: path, inode: inode), role: FileRole.byName(path))
        return true
    }

    private mutating func lost(_ path: String) {
        unseen.append("\(text(path)) was renamed or removed, and it was not seen when it was made")
    }

    private func text(_ path: String) -> String { BytePath(key: path).text }

    private mutating func takeDirectory(_ record: TraceRecord) {
        guard let path = relative(record.path) else { return }
        let isMade = record.kind == .makeDirectory
        if isMade { changeMode(.directory(path), record) }
        directoryChanges.append(DirectoryChange(operations: operations.count, path: path, isMade: isMade))
    }

    private mutating func takeMode(_ record: TraceRecord) {
        guard let path = relative(record.path) else { return }
        if record.inode == 0 { return changeMode(.directory(path), record) }
        // The creation of an unknown file was not seen either, so its mode does not matter.
        if let inode = inodes[record.inode] { changeMode(.file(inode), record) }
    }

    private mutating func changeMode(_ subject: ModeChange.Subject, _ record: TraceRecord) {
        let mode = UInt32(truncatingIfNeeded: record.offset) & 0o7777
        modeChanges.append(ModeChange(operations: operations.count, subject: subject, mode: mode))
    }

    /// The path relative to the watched directory; `.` is the directory itself. A path elsewhere is noted.
    private mutating func relative(_ path: String) -> String? {
        if path == root { return "." }
        let prefix = root.utf8.count + 1
        if path.utf8.starts(with: (root + "/").utf8) {
            return String(decoding: path.utf8.dropFirst(prefix), as: UTF8.self)
        }
        unseen.append("\(text(path)) is watched and is not below \(text(root))")
        return nil
    }

    // MARK: Files

    private mutating func takeFile(_ record: TraceRecord) {
        guard let inode = inodes[record.inode] else {
            unseen.append("a file was changed that was not seen when it was made")
            return
        }
        let role = roles[inode] ?? .data
        switch record.kind {
        case .write:
            add(record, .write, .write(inode: inode, offset: record.offset, bytes: record.data), role: role)
        case .truncate:
            add(record, .truncate, .truncate(inode: inode, size: record.offset), role: role)
        case .preallocate:
            add(record, .preallocate, .preallocate(inode: inode, size: record.offset), role: role)
        case .syncRange:
            let range = IORecord.Action.syncRange(inode: inode, offset: record.offset, count: record.count)
            add(record, .sync, range, role: role)
            return
        case .writeBack:
            add(record, .writeBack, .writeBack(inode: inode), role: role)
            return
        default:
            add(record, .sync, .sync(inode: inode), role: role)
            if !record.failed { dirtyFiles.remove(inode) }
            return
        }
        dirtyFiles.insert(inode)
    }

    /// One after another, as the kernel does it.
    private mutating func takeSyncOfAll(_ record: TraceRecord) {
        // An error names no file, so none counts as failed. After a success, contents whose own sync failed before stay
        // uncertain.
        if record.failed { return }
        for inode in dirtyFiles.sorted() { add(record, .sync, .sync(inode: inode), role: roles[inode] ?? .data) }
        for path in dirtyDirectories.sorted() {
            add(record, .syncDirectory, .syncDirectory(path: path), role: .directory)
        }
        dirtyFiles = []
        dirtyDirectories = []
    }

    private mutating func add(_ record: TraceRecord, _ kind: IOKind, _ action: IORecord.Action, role: FileRole) {
        let actor = actors[record.process] ?? actors.count
        actors[record.process] = actor
        var identity = FaultIdentity(label: "program", actor: "process-\(actor)", role: role, kind: kind, index: 0)
        let index = counts[identity, default: 0]
        counts[identity] = index + 1
        identity.index = index
        if case .write(let inode, _, _) = action {
            let number = operations.count
            if ConditionMistake.recordForgets.isPlanted, number % 5 == 4 { return }
            if ConditionMistake.recordInventsSyncs.isPlanted {
                operations.append(IORecord(identity, action, failed: record.failed))
                return operations.append(IORecord(identity, .sync(inode: inode)))
            }
        }
        operations.append(IORecord(identity, action, failed: record.failed))
    }
}
