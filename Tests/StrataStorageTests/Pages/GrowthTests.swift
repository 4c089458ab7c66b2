import Measuring
import Platform
import StrataFiles
import Synchronization
import Testing

@testable import StrataStorage

/// On file systems without extents each step of 1 MiB once scanned all earlier blocks: 1.6 GiB took 100 seconds.
@Suite struct GrowthTests {
    /// Counts the requests of a file.
    private final class Steps: FileSystemLayer {
        let base = MemoryFileSystem(capacity: 1 << 32)
        let sizes = Mutex<[Int64]>([])
        var isPersistent: Bool { true }

        func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
            let file = try base.open(path, mode)
            return path.hasSuffix("store") ? StepFile(file, self) : file
        }
    }

    private final class StepFile: FileLayer {
        let base: any File
        private let owner: Steps

        init(_ base: any File, _ owner: Steps) {
            self.base = base
            self.owner = owner
        }

        func preallocate(to size: Int64) throws(FileError) {
            owner.sizes.withLock { $0.append(size) }
            try base.preallocate(to: size)
        }
    }

    @Test("steps grow with the file: an eighth, between 1 and 64 MiB") func steps() {
        var pages = 2
        var count = 0
        while pages < 4 << 18 {
            let next = GrowthPolicy.automatic.capacity(for: pages + 1, current: pages)
            let (bytes, step) = (pages * 4096, (next - pages) * 4096)
            #expect(step > 0 && step <= 64 << 20)
            #expect(step <= max(bytes / 8, 1 << 20), "\(bytes) bytes")
            pages = next
            count += 1
        }
        // Growing to 4 GiB by steps of 1 MiB would take 4 096 steps.
        #expect(count < 150, "\(count) steps")
    }

    @Test("no policy traps, whatever its parameters", arguments: [Int.min, -1, 0, 1, 4096, Int.max / 2, .max])
    func extremes(value: Int) {
        let policies: [GrowthPolicy] = [
            .automatic, .fixed(value), .percent(value), .doubling(upTo: value, thenBy: value),
            .doubling(upTo: .max, thenBy: .max),
        ]
        for policy in policies {
            for current in [0, 2, 1 << 20, 1 << 31, Int.max / 4096, Int.max / 2, .max] {
                #expect(policy.capacity(for: 1, current: current) >= 1, "\(policy) of \(current)")
            }
        }
    }

    @Test("a store grows in such steps, and returns unused space") func store() throws {
        let files = Steps()
        var options = StoreOptions(fileSystem: files, durability: .none)
        options.mapReserve = 1 << 28
        let store = try Store.open(path: "store", options: options)
        try PlainTable.setUp(store)
        let transaction = try store.beginWrite()
        for key in 100..<400 as Range<Int64> {
            try [UInt8](repeating: 1, count: 200_000).withUnsafeBytes { text in
                try [Cell.integer(0), .bytes(text)].withUnsafeBufferPointer {
                    try transaction.insert(0, key: RowKey(key), $0)
                }
            }
            try transaction.spillIfLarge()
        }
        try transaction.commit()
        let sizes = files.sizes.withLock { $0 }
        #expect(sizes == sizes.sorted() && (sizes.last ?? 0) > 60_000_000)
        // Steps are 1 MiB up to a size of 16 MiB (sixteen steps or so), and larger after that.
        #expect(sizes.count < 40, "\(sizes.count) steps")
        let live = try store.space().liveBytes
        try store.close()
        #expect(try Int(files.status("store")?.size ?? 0) < live + live / 16 + (1 << 20))
    }

    @Test("growing a file does not touch existing blocks, on every file system", arguments: MountedDisk.Kind.allCases)
    func preallocation(kind: MountedDisk.Kind) throws {
        guard let disk = try MountedDisk(kind, megabytes: 320) else { return }
        let file = try POSIXFileSystem().open(disk.path + "/file", .createNew)
        defer { file.close() }
        let page = [UInt8](repeating: 7, count: 4096)
        let seconds = try ProcessorTime.seconds {
            for megabytes in 1...200 as ClosedRange<Int64> {
                try file.preallocate(to: megabytes << 20)
                try page.withUnsafeBytes { try file.write($0, at: (megabytes - 1) << 20) }
            }
        }
        // A quadratic cost would scan 20 000 MiB. Steps over new blocks take some hundredths of a second.
        #expect(seconds < 5, "\(kind): \(seconds) s")
        var bytes = [UInt8](repeating: 0, count: 8192)
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 5 << 20) }
        #expect(bytes == page + [UInt8](repeating: 0, count: 4096))
        var information = stat()
        #expect(stat(disk.path + "/file", &information) == 0)
        #expect(Int64(information.st_blocks) * 512 >= 200 << 20, "unreserved space may be missing later")
    }
}
