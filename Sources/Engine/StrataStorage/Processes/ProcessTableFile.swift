import CXXHash
internal import StrataFiles

/// The lock file in one process: shared words, the tail after them, and the lock that guards changes.
///
/// That lock is on a byte of the data file, not of the lock file: the kernel releases it when its process dies, and no
/// process can overwrite it. Concurrency: any thread may call every member.
final class ProcessTableFile: Sendable {
    typealias Layout = ProcessTable.Layout

    /// Of the lock file.
    let path: String
    let memory: any SharedMemory
    /// The data file, whose bytes the processes lock.
    let data: any File
    let scheduling: any Scheduling
    /// Microseconds without a sign of life after which a process counts as stopped.
    let silenceLimit: Int
    private let fileSystem: any FileSystem
    private let file: any File
    /// Excludes the threads of this process, which share the lock on the byte.
    private let threads: any Monitor

    /// Microseconds to wait for the lock. A process holds it for less than a thousandth of that, unless it is stopped.
    static let patience = 10_000_000
    /// Attempts to take the lock before the thread sleeps. They take some 30 microseconds: longer than a running
    /// process holds the lock, and less than the shortest sleep.
    private static let attemptsInARow = 60

    /// - Parameter file: of at least ``ProcessTable/Layout/bytes`` bytes.
    /// - Throws: `map`.
    init(_ file: any File, data: any File, options: StoreOptions) throws(FileError) {
        path = file.path
        memory = try file.mapShared(count: Layout.bytes)
        self.file = file
        self.data = data
        scheduling = options.scheduling
        silenceLimit = options.silenceLimit
        fileSystem = options.fileSystem
        threads = options.scheduling.makeMonitor("process table")
    }

    /// Runs `body` under the table's lock, which excludes all other threads of all processes. `body` must not wait or
    /// do I/O.
    /// - Parameter patience: microseconds to wait for the lock.
    /// - Throws: `lockFile` if the file is no table any more, or another process holds the lock for longer than that.
    func withLock<Value>(patience: Int = patience, _ body: () throws(StorageError) -> Value) throws(StorageError)
        -> Value
    {
        threads.lock()
        defer { threads.unlock() }
        try lock(patience)
        // An error is dropped: the kernel releases the lock when the descriptor is closed.
        defer { do throws(FileError) { try data.unlock(byte: LockByte.change) } catch {} }
        guard memory[Layout.magic] == Layout.magicNumber, memory.isIntact else { throw .lockFile(path: path) }
        return try body()
    }

    private func lock(_ patience: Int) throws(StorageError) {
        do throws(FileError) {
            for _ in 0..<Self.attemptsInARow where try data.tryLock(byte: LockByte.change, exclusive: true) { return }
            let deadline = scheduling.deadline(after: patience)
            var pause = 10
            while try !data.tryLock(byte: LockByte.change, exclusive: true) {
                if scheduling.remaining(until: deadline) == 0 { throw FileError.keptOut(path: path) }
                scheduling.pause(microseconds: pause)
                pause = min(2 * pause, 1000)
            }
        } catch {
            throw .lockFile(path: path)
        }
    }

    /// Identity of this file among all files that ever stood at its path.
    func identity() throws(FileError) -> UInt64 {
        let words = [memory[Layout.session], try file.status().inode]
        return words.withUnsafeBytes(Self.checksum)
    }

    /// Removes the file, unless its path leads to another file by now.
    func remove() {
        // Errors are dropped: a process that opens the store alone replaces a lock file that was left behind.
        do throws(FileError) {
            if try fileSystem.status(path)?.inode == file.status().inode { try fileSystem.remove(path) }
        } catch {}
    }

    // MARK: Behind the table

    func writeTail(_ bytes: [UInt8]) throws(StorageError) {
        var failure: StorageError?
        bytes.withUnsafeBytes { buffer in
            do throws(StorageError) { try writeTail(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    func writeTail(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
        do throws(FileError) { try file.write(bytes, at: Int64(Layout.bytes)) } catch { throw StorageError(error) }
    }

    /// Reads the tail's first bytes; nil if the file is too short, the checksum differs, or `count` exceeds
    /// `limit` (`count` comes from the file, so it is not trusted).
    func readTail(_ count: Int, checksum: UInt64, atMost limit: Int) throws(StorageError) -> [UInt8]? {
        if count > limit { return nil }
        do throws(FileError) {
            guard Int64(count) <= max(0, try file.size() - Int64(Layout.bytes)) else { return nil }
            var failure: FileError?
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                do throws(FileError) {
                    initialized = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: Int64(Layout.bytes))
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            return bytes.count == count && bytes.withUnsafeBytes(Self.checksum) == checksum ? bytes : nil
        } catch {
            throw StorageError(error)
        }
    }

    static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 { XXH3_64bits(bytes.baseAddress, bytes.count) }
}
