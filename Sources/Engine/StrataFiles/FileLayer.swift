/// A file system that wraps another one and changes some of its behaviour.
///
/// Members that a type does not define are forwarded to ``base``. Files are returned as ``base`` opened them: a layer
/// that changes a file's behaviour wraps it in `open`.
package protocol FileSystemLayer: FileSystem {
    associatedtype Base: FileSystem
    var base: Base { get }
}

extension FileSystemLayer {
    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File { try base.open(path, mode) }
    package func status(_ path: String) throws(FileError) -> FileStatus? { try base.status(path) }
    package func resolve(_ path: String) throws(FileError) -> String { try base.resolve(path) }
    package func remove(_ path: String) throws(FileError) { try base.remove(path) }
    package func rename(_ path: String, to destination: String) throws(FileError) {
        try base.rename(path, to: destination)
    }
    package func renameNew(_ path: String, to destination: String) throws(FileError) {
        try base.renameNew(path, to: destination)
    }
    package func syncDirectory(of path: String) throws(FileError) { try base.syncDirectory(of: path) }
    package var isPersistent: Bool { base.isPersistent }
    package var isShared: Bool { base.isShared }
    package func availableBytes(beside path: String) throws(FileError) -> Int64? {
        try base.availableBytes(beside: path)
    }
    package func servedKind(of path: String) -> String? { base.servedKind(of: path) }
    package func randomBits() -> UInt64 { base.randomBits() }
}

/// A file that wraps another one and changes some of its behaviour.
///
/// Members that a type does not define are forwarded to ``base``; a layer that changes the bytes must change the
/// mappings, too. Holes are not forwarded, because a layer may have bytes where ``base`` has a hole: a layer that does
/// not define ``File/nextData(from:)`` reports none.
package protocol FileLayer: File {
    var base: any File { get }
}

extension FileLayer {
    package var path: String { base.path }
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        try base.read(into: buffer, at: offset)
    }
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
        try base.write(bytes, at: offset)
    }
    package func size() throws(FileError) -> Int64 { try base.size() }
    package func truncate(to size: Int64) throws(FileError) { try base.truncate(to: size) }
    package func preallocate(to size: Int64) throws(FileError) { try base.preallocate(to: size) }
    package func syncData() throws(FileError) { try base.syncData() }
    package func writeBack(offset: Int64, count: Int64) throws(FileError) {
        try base.writeBack(offset: offset, count: count)
    }
    package func status() throws(FileError) -> FileStatus { try base.status() }
    package func map(reserve: Int) throws(FileError) -> any FileMap { try base.map(reserve: reserve) }
    package func mapPrivately(reserve: Int) throws(FileError) -> MappedRange {
        try base.mapPrivately(reserve: reserve)
    }
    package func tryLock(byte: Int64, exclusive: Bool) throws(FileError) -> Bool {
        try base.tryLock(byte: byte, exclusive: exclusive)
    }
    package func unlock(byte: Int64) throws(FileError) { try base.unlock(byte: byte) }
    package func isLocked(byte: Int64) throws(FileError) -> Bool { try base.isLocked(byte: byte) }
    package func lockHolders(byte: Int64) -> [Int32] { base.lockHolders(byte: byte) }
    package func mapShared(count: Int) throws(FileError) -> any SharedMemory { try base.mapShared(count: count) }
    package func close() { base.close() }
}
