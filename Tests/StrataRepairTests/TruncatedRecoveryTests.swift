import StrataFiles
import Synchronization
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

/// Recoveries during which another program truncates the damaged file.
@Suite struct TruncatedRecoveryTests {
    private static let path = FileImages.path
    private static let kept = path + ".damaged-1"
    /// More than two pieces of a copy.
    private static let size = 300_000

    /// Truncates the store's file once a recovery has copied its first piece.
    private final class TruncatingDisk: FileSystemLayer {
        let base = FileImages.Disk()
        fileprivate let cut: Int
        fileprivate let knowsHoles: Bool
        fileprivate let isCopying = Atomic<Bool>(false)

        init(cut: Int, knowsHoles: Bool) {
            self.cut = cut
            self.knowsHoles = knowsHoles
        }

        func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
            // A copy opens its source first.
            if path == TruncatedRecoveryTests.kept { isCopying.store(true, ordering: .relaxed) }
            let file = try base.open(path, mode)
            return path == TruncatedRecoveryTests.path ? TruncatingFile(file, self) : file
        }
    }

    private final class TruncatingFile: FileLayer {
        let base: any File
        private let disk: TruncatingDisk

        init(_ base: any File, _ disk: TruncatingDisk) {
            self.base = base
            self.disk = disk
        }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
            let count = try base.read(into: buffer, at: offset)
            if disk.isCopying.exchange(false, ordering: .relaxed) { try base.truncate(to: Int64(disk.cut)) }
            return count
        }

        func nextData(from offset: Int64) -> Range<Int64>? {
            if !disk.knowsHoles { return offset..<Int64.max }
            return offset < Int64(disk.cut) ? offset..<Int64(disk.cut) : nil
        }
    }

    /// The kept copy once held bytes of an earlier piece where the end of the file had been.
    @Test(
        "what another program cuts off a damaged file during its recovery is zeros in the kept copy, and counted",
        arguments: [65_536, 70_000, 200_704, 299_999], [true, false])
    func truncated(cut: Int, knowsHoles: Bool) throws {
        let disk = TruncatingDisk(cut: cut, knowsHoles: knowsHoles)
        var image = try FileImages.clean(seed: 4, steps: 60)
        try #require(image.data.count < Self.size)
        for slot in 0..<2 { for byte in 16..<116 { image.data[slot * Format.pageSize + byte] = 1 } }
        image.data += [UInt8](repeating: 0xAB, count: Self.size - image.data.count)
        try disk.base.put(image.data, at: Self.path)
        var options = FileImages.options
        options.fileSystem = disk
        let reports = Mutex<[DamageReport]>([])
        let store = try Repair.open(path: Self.path, options: options, onDamage: .startAfresh) { report in
            reports.withLock { $0.append(report) }
        }
        try store.close()
        let kept = try #require(try disk.base.bytes(Self.kept))
        #expect(kept == image.data[..<cut] + [UInt8](repeating: 0, count: Self.size - cut))
        #expect(reports.withLock { $0.map(\.unreadableBytes) } == [Self.size - cut])
    }
}
