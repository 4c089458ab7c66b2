import FaultModel
import Platform
import StrataFiles

/// A handle on a file of a simulated disk.
final class SimulatedFile: File {
    private let disk: SimulatedDisk
    private let file: OpenFile
    private let handle: Int
    private let isWritable: Bool
    private let closed = ClosedFlag()

    init(_ disk: SimulatedDisk, _ file: OpenFile, handle: Int, isWritable: Bool) {
        self.disk = disk
        self.file = file
        self.handle = handle
        self.isWritable = isWritable
    }

    deinit { close() }

    var path: String { file.path }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        // The buffer belongs to the caller during the call; Swift cannot see that the mutex's closure does not escape.
        nonisolated(unsafe) let buffer = buffer
        return try change(.read, needsWriting: false) { (state, thread) throws(FileError) in
            try state.read(into: buffer, at: offset, of: file, thread: thread)
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        // The buffer belongs to the caller during the call, as in `read`.
        nonisolated(unsafe) let bytes = bytes
        try change(.write) { (state, thread) throws(FileError) in
            try state.write(bytes, at: offset, of: file, thread: thread)
        }
    }

    func size() throws(FileError) -> Int64 { try status().size }

    func truncate(to size: Int64) throws(FileError) {
        try change(.truncate) { (state, thread) throws(FileError) in
            try state.truncate(file, to: size, thread: thread)
        }
    }

    func preallocate(to size: Int64) throws(FileError) {
        try change(.preallocate) { (state, thread) throws(FileError) in
            try state.preallocate(file, to: size, thread: thread)
        }
    }

    func syncData() throws(FileError) {
        try change(.sync, needsWriting: false) { (state, thread) throws(FileError) in
            try state.sync(file, thread: thread)
        }
    }

    func writeBack(offset: Int64, count: Int64) throws(FileError) {
        try change(.writeBack, needsWriting: false) { (state, thread) throws(FileError) in
            try state.writeBack(file, thread: thread)
        }
    }

    func status() throws(FileError) -> FileStatus {
        try change(.status, needsWriting: false) { (state, _) throws(FileError) in
            FileStatus(
                size: state.contents(file.inode).size, device: SimulatedDisk.device, inode: file.inode.number)
        }
    }

    func map(reserve: Int) throws(FileError) -> any FileMap {
        let memory = disk.memory
        return try change(.map, needsWriting: false) { (state, thread) throws(FileError) -> SimulatedMap in
            if let errno = state.decide(.map, file.role, thread: thread).errno {
                throw FileError(.map, path: file.path, errno: errno)
            }
            guard let map = SimulatedMap(state.contents(file.inode), reserve: reserve, memory: memory) else {
                throw FileError(.map, path: file.path, errno: ENOMEM)
            }
            state.addMap(map, of: file.inode)
            return map
        }
    }

    func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        try change(.lock, needsWriting: false) { (state, _) throws(FileError) in
            state.locks.tryLock(file.inode, byte: byte, exclusive: exclusive, handle: handle)
        }
    }

    func isLocked(byte: Int64) throws(FileError) -> Bool {
        try change(.lock, needsWriting: false) { (state, _) throws(FileError) in
            state.locks.isLocked(file.inode, byte: byte, besides: handle)
        }
    }

    func unlock(byte: Int64) throws(FileError) {
        try change(.lock, needsWriting: false) { (state, _) throws(FileError) in
            state.locks.unlock(file.inode, byte: byte, handle: handle)
        }
    }

    func close() {
        if closed.set() { disk.state.withLock { $0.locks.unlockAll(handle: handle) } }
    }

    private func change<Value: Sendable>(
        _ operation: FileError.Operation, needsWriting: Bool = true,
        _ body: (inout DiskState, UInt) throws(FileError) -> Value
    ) throws(FileError) -> Value {
        if closed.isSet || (needsWriting && !isWritable) {
            throw FileError(operation, path: file.path, errno: EBADF)
        }
        let thread = SimulatedDisk.currentThread
        if let kind = operation.kind { disk.settings.beforeOperation?(kind) }
        return try disk.state.withLock { (state) throws(FileError) -> Value in try body(&state, thread) }
    }
}

extension FileError.Operation {
    /// The kind of an operation that can be made to fail; nil for others.
    fileprivate var kind: IOKind? {
        switch self {
        case .read: .read
        case .write: .write
        case .truncate: .truncate
        case .preallocate: .preallocate
        case .sync: .sync
        case .writeBack: .writeBack
        case .map: .map
        default: nil
        }
    }
}
