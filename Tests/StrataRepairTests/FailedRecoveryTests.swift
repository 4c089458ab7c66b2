import StrataFiles
import Synchronization
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

/// A full disk on which each attempt to recover a store once left another part of a copy.
@Suite struct FailedRecoveryTests {
    private static let path = FileImages.path

    /// The operation that fails.
    enum Failure: CaseIterable, Sendable {
        /// A write to the copy of the file, or of its log.
        case copy, logCopy
        case sync
        /// The new store gets the path of the damaged one.
        case rename

        fileprivate func refusesWrite(_ path: String) -> Bool {
            switch self {
            case .copy: path.contains(".damaged-") && !path.hasSuffix(".log")
            case .logCopy: path.contains(".damaged-") && path.hasSuffix(".log")
            case .sync, .rename: false
            }
        }
        fileprivate func refusesSync(_ path: String) -> Bool { self == .sync && path.contains(".damaged-") }
    }

    private final class FullDisk: FileSystemLayer {
        let base: FileImages.Disk
        /// The failing operation; nil once there is room again.
        let failure = Mutex<Failure?>(nil)

        init(_ base: FileImages.Disk) { self.base = base }

        func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
            FullFile(try base.open(path, mode), self)
        }
        func rename(_ path: String, to destination: String) throws(FileError) {
            if failure.withLock({ $0 }) == .rename, path.hasSuffix(".mending") {
                throw FileError(.rename, path: path, errno: 28)
            }
            try base.rename(path, to: destination)
        }
    }

    private final class FullFile: FileLayer {
        let base: any File
        private let disk: FullDisk

        init(_ base: any File, _ disk: FullDisk) {
            self.base = base
            self.disk = disk
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
            // The first piece of a file fits.
            let isFirst = offset == 0 && !path.hasSuffix(".log")
            if !isFirst, disk.failure.withLock({ $0 })?.refusesWrite(path) ?? false {
                throw FileError(.write, path: path, errno: 28)
            }
            try base.write(bytes, at: offset)
        }
        func syncData() throws(FileError) {
            if disk.failure.withLock({ $0 })?.refusesSync(path) ?? false {
                throw FileError(.sync, path: path, errno: 28)
            }
            try base.syncData()
        }
    }

    @Test(
        "a recovery that fails leaves the damaged store and no copy, and a later one succeeds",
        arguments: Failure.allCases, [DamagePolicy.startAfresh, .salvage, .lastGoodVersion])
    func failed(failure: Failure, policy: DamagePolicy) throws {
        var image = try FileImages.withLog(seed: 4, steps: 60, commits: 8)
        // The log of another store.
        image.log = try FileImages.withLog(seed: 5, steps: 60, commits: 8).log
        let disk = FullDisk(try FileImages.Disk(image))
        // The copy of an earlier recovery.
        try disk.base.put([7, 7], at: Self.path + ".damaged-1")
        var options = FileImages.options
        options.fileSystem = disk
        disk.failure.withLock { $0 = failure }
        for _ in 0..<3 {
            let error = #expect(throws: StorageError.self) {
                try Repair.open(path: Self.path, options: options, onDamage: policy).close()
            }
            guard case .noSpace = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(
                try disk.base.bytes(Self.path) == image.data && disk.base.bytes(Store.logPath(Self.path)) == image.log)
            for name in [".damaged-2", ".damaged-2.log", ".damaged-3", ".mending", ".mending.log"] {
                #expect(try disk.status(Self.path + name) == nil, "\(name)")
            }
            #expect(try disk.base.bytes(Self.path + ".damaged-1") == [7, 7])
        }
        disk.failure.withLock { $0 = nil }
        let store = try Repair.open(path: Self.path, options: options, onDamage: policy)
        try store.close()
        #expect(try disk.base.bytes(Self.path + ".damaged-2") == image.data)
        #expect(try disk.base.bytes(Store.logPath(Self.path + ".damaged-2")) == image.log)
    }

    /// The user has removed the copy of the data file, or the process died between the removal of both.
    @Test("a recovery passes over the log of a copy that is gone")
    func logWithoutCopy() throws {
        var image = try FileImages.withLog(seed: 4, steps: 60, commits: 8)
        image.log = try FileImages.withLog(seed: 5, steps: 60, commits: 8).log
        let disk = try FileImages.Disk(image)
        let left = Store.logPath(Self.path + ".damaged-1")
        try disk.put([7, 7], at: left)
        var options = FileImages.options
        options.fileSystem = disk
        try Repair.open(path: Self.path, options: options, onDamage: .startAfresh).close()
        #expect(try disk.bytes(left) == [7, 7] && disk.status(Self.path + ".damaged-1") == nil)
        #expect(try disk.bytes(Self.path + ".damaged-2") == image.data)
    }

    /// The new store is at the path by then: the copies are all that is left of the damaged one.
    @Test("copies stay if a recovery fails after it has replaced the store")
    func replaced() throws {
        let image = try FileImages.withLog(seed: 4, steps: 60, commits: 8)
        let disk = LatelyFullDisk(try FileImages.Disk(image))
        var options = FileImages.options
        options.fileSystem = disk
        let file = try #require(try disk.status(Self.path))
        #expect(throws: StorageError.self) {
            try Repair.mend(
                path: Self.path, options: options, policy: .startAfresh, of: file,
                because: .logMissing(path: Store.logPath(Self.path)))
        }
        #expect(try disk.status(Self.path)?.isSameFile(as: file) == false)
        #expect(try disk.base.bytes(Self.path + ".damaged-1") == image.data)
        #expect(try disk.base.bytes(Store.logPath(Self.path + ".damaged-1")) == image.log)
    }

    /// Fails to sync the directory once the new store has its path.
    private final class LatelyFullDisk: FileSystemLayer {
        let base: FileImages.Disk
        private let isReplaced = Atomic<Bool>(false)

        init(_ base: FileImages.Disk) { self.base = base }

        func rename(_ path: String, to destination: String) throws(FileError) {
            try base.rename(path, to: destination)
            if path.hasSuffix(".mending") { isReplaced.store(true, ordering: .relaxed) }
        }
        func syncDirectory(of path: String) throws(FileError) {
            if isReplaced.load(ordering: .relaxed) { throw FileError(.syncDirectory, path: path, errno: 5) }
        }
    }
}
