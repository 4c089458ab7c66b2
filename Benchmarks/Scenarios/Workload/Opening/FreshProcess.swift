import Harness
import Measuring
import Platform

/// Brings a process into a defined state before it times an open: linked files are mapped, and the processor's caches
/// contain nothing of the database or the library.
///
/// Two effects made an open slower under this harness than in a small control program, measured with LMDB (237 us
/// against 137). The first call into each 64 KiB of code is a page fault of some 30 us, and a large program has more of
/// them. And the caches of a large program that was just started are full of its earlier work, while a small one still
/// has its code and file in them. The control programs start in the same way.
enum FreshProcess {
    private static let cacheBytes = 32 << 20

    /// Maps linked files, makes the allocator map large blocks separately, then writes to more memory than a core's own
    /// cache holds, and releases that memory.
    static func prepare() throws {
        mapLinkedFiles()
        AllocationCounter.mapLargeBlocks()
        guard let memory = mmap(nil, cacheBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else { throw HarnessError("no memory to fill the caches of the processor with") }
        memset(memory, 1, cacheBytes)
        munmap(memory, cacheBytes)
    }

    /// Makes the kernel map the pages of the program and of its libraries, their variables and the heap. Otherwise an
    /// open would include page faults, and their number would depend on what else is linked into the program. Does
    /// nothing without a list of mappings (macOS), and under a kernel before Linux 5.14, which lacks the advice.
    private static func mapLinkedFiles() {
        guard let list = fopen("/proc/self/maps", "r") else { return }
        defer { fclose(list) }
        var line = [CChar](repeating: 0, count: 8192)
        var fileEnd: UInt = 0
        while fgets(&line, Int32(line.count), list) != nil {
            guard let mapping = Self.mapping(line, after: fileEnd) else { continue }
            if mapping.isFile { fileEnd = mapping.addresses.upperBound }
            madvise(
                UnsafeMutableRawPointer(bitPattern: mapping.addresses.lowerBound), mapping.addresses.count,
                mapping.isWritable ? populateWrite : populateRead)
        }
    }

    /// MADV_POPULATE_READ and MADV_POPULATE_WRITE.
    private static let populateRead: Int32 = 22
    private static let populateWrite: Int32 = 23

    /// Parses a line of the list, such as `55d0c8a00000-55d0c8a5b000 r-xp 00002000 08:01 131 /usr/bin/x`.
    ///
    /// - Parameter fileEnd: the end of the last mapping of a file, where the loader maps variables that begin as zeros.
    /// - Returns: nil for a shared mapping, and for one that is not of a file, of variables or of the heap.
    private static func mapping(
        _ line: [CChar], after fileEnd: UInt
    ) -> (addresses: Range<UInt>, isWritable: Bool, isFile: Bool)? {
        line.withUnsafeBufferPointer { text in
            guard let base = text.baseAddress else { return nil }
            var rest: UnsafeMutablePointer<CChar>?
            let start = strtoul(base, &rest, 16)
            guard let dash = rest, dash.pointee == 45 else { return nil }
            let end = strtoul(dash + 1, &rest, 16)
            guard let permissions = rest, start < end, permissions[1] == 114, permissions[4] == 112 else { return nil }
            let isFile = strchr(base, 47) != nil
            guard isFile || start == fileEnd || strstr(base, "[heap]") != nil else { return nil }
            return (start..<end, permissions[2] == 119, isFile)
        }
    }
}
