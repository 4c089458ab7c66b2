import CXXHash
internal import StrataFiles

/// The lock file as one process has it: shared words, what stands behind them, and the lock that guards changes.
///
/// That lock is a byte of the data file, not bytes of the lock file: it goes with a process that dies, and nobody can
/// write over it. Concurrency: every member may be called from any thread.
final class ProcessTableFile: Sendable {
    typealias Layout = ProcessTable.Layout

    /// Of the lock file.
    let path: String
    let memory: any SharedMemory
    /// The data file, whose locks count.
    let data: any File
    let scheduling: any Scheduling
    /// Microseconds without a sign of life after which a process is taken for stopped.
    let silenceLimit: Int
    private let fileSystem: any FileSystem
    private let file: any File
    /// Before the lock on the byte, which all threads of a process have at once.
    private let threads: any Monitor

    /// How long the lock is waited for, in microseconds: it is held for less than one thousandth of that, unless its
    /// holder is stopped.
    static let patience = 10_000_000
    /// The lock is asked for so many times in a row before this thread sleeps: that takes some 30 microseconds, longer
    /// than it is held by a process that runs, and less than the shortest sleep.
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

    /// Runs `body` while no other thread of any process changes the table. Never while waiting or during I/O.
    /// - Parameter patience: microseconds to wait for the lock.
    /// - Throws: `lockFile` when the file is no table any more, or the lock's holder is stopped within it.
    func withLock<Value>(patience: Int = patience, _ body: () throws(StorageError) -> Value) throws(StorageError)
        -> Value
    {
        threads.lock()
        defer { threads.unlock() }
        try lock(patience)
        // A lock that cannot be given back goes with the descriptor.
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

    /// What this very file is called among all that were ever at this path.
    func identity() throws(FileError) -> UInt64 {
        let words = [memory[Layout.session], try file.status().inode]
        return words.withUnsafeBytes(Self.checksum)
    }

    /// Takes the file away, unless another one stands there.
    func remove() {
        // Who finds it left behind does not believe it.
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

    /// Bytes from behind the table; nil when they are not there, are not those of the checksum, or are said to be more
    /// than `limit`: what says how many stands in the file.
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
