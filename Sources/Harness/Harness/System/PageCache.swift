import Files
import Platform

/// Inspects and drops the pages of single files in the page cache; all other cached pages stay.
package enum PageCache {
    /// How much of the files is in memory, from 0 to 1; 0 for empty files.
    ///
    /// It asks the kernel by a mapping of the file, which loads no page by itself.
    package static func residentShare(_ paths: [String]) throws -> Double {
        var (resident, pages) = (0, 0)
        for path in paths {
            let count = try residentPages(path)
            resident += count.resident
            pages += count.pages
        }
        return pages == 0 ? 0 : Double(resident) / Double(pages)
    }

    private static func residentPages(_ path: String) throws -> (resident: Int, pages: Int) {
        #if canImport(Glibc)
            let size = try FileTree.size(path)
            guard size > 0 else { return (0, 0) }
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw HarnessError("cannot open \(path): \(systemMessage())") }
            defer { close(descriptor) }
            let map = mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0)
            guard let map, map != MAP_FAILED else { throw HarnessError("cannot map \(path): \(systemMessage())") }
            defer { munmap(map, size) }
            let pageBytes = max(1, sysconf(Int32(_SC_PAGESIZE)))
            var states = [UInt8](repeating: 0, count: (size + pageBytes - 1) / pageBytes)
            guard mincore(map, size, &states) == 0 else {
                throw HarnessError("cannot ask which pages of \(path) are in memory: \(systemMessage())")
            }
            return (states.count { $0 & 1 != 0 }, states.count)
        #else
            throw HarnessError("a cold cache needs mincore of Linux")
        #endif
    }

    /// Whether files of this directory can be dropped from the page cache: those of a file system in memory cannot.
    package static func canDrop(in directory: String) throws -> Bool {
        let path = directory + "/page-cache-probe"
        try FileTree.writeBytes(path, [UInt8](repeating: 1, count: 64 << 10))
        defer { unlink(path) }
        try drop([path])
        return try residentShare([path]) == 0
    }

    /// Syncs the files and drops their pages. Pages that a process has mapped stay, and so do those of a file system in
    /// memory: `residentShare` tells how many.
    package static func drop(_ paths: [String]) throws {
        #if canImport(Glibc)
            for path in paths {
                try FileTree.sync(path)
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else { throw HarnessError("cannot open \(path): \(systemMessage())") }
                posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
                close(descriptor)
            }
        #else
            throw HarnessError("a cold cache needs posix_fadvise of Linux")
        #endif
    }
}
