import Harness
import Measuring
import Platform
import RunRecords

/// Disk performance: writes and syncs 4 KiB, with no other work.
struct RawDiskLoop {
    struct Timing {
        var perSecond: Double
        var histogram: Histogram
    }

    static let blockBytes = 4_096
    private let path: String

    init(directory: String) {
        path = directory + "/raw-disk"
    }

    /// Overwrites the blocks of a preallocated file one by one, and syncs each.
    func overwrite(count: Int) throws -> Timing {
        let blocks = 256
        return try withFile { descriptor in
            try Self.write(descriptor, at: 0, blocks: blocks)
            fsync(descriptor)
            return try Self.measure(count) { try Self.writeAndSync(descriptor, at: $0 % blocks) }
        }
    }

    /// Extends the file by a block, and syncs, each time.
    func append(count: Int) throws -> Timing {
        try withFile { descriptor in
            try Self.measure(count) { try Self.writeAndSync(descriptor, at: $0) }
        }
    }

    /// Bytes per second from a file in the page cache, read in pieces of 1 MiB.
    func sequentialRead(mebibytes: Int, rounds: Int) throws -> Double {
        try withFile { descriptor in
            try Self.write(descriptor, at: 0, blocks: mebibytes * 256)
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            var best = UInt64.max
            for _ in 0..<max(1, rounds) {
                let start = MonotonicClock.now()
                for piece in 0..<mebibytes {
                    guard pread(descriptor, &buffer, buffer.count, off_t(piece << 20)) == buffer.count else {
                        throw HarnessError("cannot read \(path)")
                    }
                }
                best = min(best, MonotonicClock.now() - start)
            }
            return Double(mebibytes << 20) / (Double(max(1, best)) / 1e9)
        }
    }

    private func withFile<Output>(_ body: (Int32) throws -> Output) throws -> Output {
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw HarnessError("cannot create \(path): \(String(cString: strerror(errno)))") }
        defer {
            close(descriptor)
            unlink(path)
        }
        return try SlowDisk.ownWork { try body(descriptor) }
    }

    private static func measure(_ count: Int, _ operation: (Int) throws -> Void) rethrows -> Timing {
        let recorder = LatencyRecorder()
        let start = MonotonicClock.now()
        for index in 0..<max(1, count) {
            let begin = MonotonicClock.now()
            try operation(index)
            recorder.record(nanoseconds: MonotonicClock.now() - begin)
        }
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        return Timing(perSecond: Double(max(1, count)) / seconds, histogram: recorder.histogram)
    }

    private static func write(_ descriptor: Int32, at block: Int, blocks: Int) throws {
        let piece = [UInt8](repeating: 0x5A, count: 64 * blockBytes)
        for first in stride(from: block, to: block + blocks, by: 64) {
            let bytes = min(64, block + blocks - first) * blockBytes
            guard pwrite(descriptor, piece, bytes, off_t(first * blockBytes)) == bytes else {
                throw HarnessError("cannot write a test file: \(String(cString: strerror(errno)))")
            }
        }
    }

    private static func writeAndSync(_ descriptor: Int32, at block: Int) throws {
        try withUnsafeTemporaryAllocation(byteCount: blockBytes, alignment: blockBytes) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: block &* 31))
            guard pwrite(descriptor, buffer.baseAddress, blockBytes, off_t(block * blockBytes)) == blockBytes else {
                throw HarnessError("cannot write a test file: \(String(cString: strerror(errno)))")
            }
        }
        #if canImport(Glibc)
            let status = fdatasync(descriptor)
        #else
            let status = fcntl(descriptor, F_FULLFSYNC)
        #endif
        guard status == 0 else { throw HarnessError("cannot sync a test file: \(String(cString: strerror(errno)))") }
    }
}
