#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Bytes that reached the device, where these are the run's own: a file system that is mounted for it alone.
///
/// A device counts what everybody writes to it, and the kernel's count of a process (`write_bytes`) counts what became
/// dirty: up to a mebibyte for a write of four kilobytes. So there is a figure only for a directory whose file system
/// has a block device, is not the one of `/`, and is mounted at one place; else there is none, which is not zero.
///
/// What is still dirty is not on the device: whoever wants all of it syncs the file system before reading. Journal and
/// metadata are in it, as they are written, too.
package struct DeviceCounter: Sendable {
    private static let sectorBytes: UInt64 = 512
    /// `/sys/dev/block/8:1/stat`.
    let statisticsPath: String
    /// Where the file system is mounted.
    package let mountPoint: String

    package init?(directory: String) {
        #if canImport(Glibc)
            guard let resolved = realpath(directory, nil) else { return nil }
            defer { free(resolved) }
            self.init(directory: String(cString: resolved), mounts: ProcessFile.text("/proc/self/mountinfo"))
            guard writtenBytes() != nil else { return nil }
        #else
            return nil
        #endif
    }

    /// `mounts`: the lines of mountinfo(5).
    init?(directory: String, mounts: String) {
        let lines = mounts.split(separator: "\n").compactMap(Mount.init)
        // Of the mounts that hold it the deepest, and of several on one place the latest, which hides the others.
        var found: Mount?
        for mount in lines where mount.holds(directory) && mount.point.utf8.count >= found?.point.utf8.count ?? 0 {
            found = mount
        }
        guard let found, found.point != "/", found.root == "/", !found.device.hasPrefix("0:"),
            lines.filter({ $0.device == found.device }).count == 1
        else { return nil }
        statisticsPath = "/sys/dev/block/\(found.device)/stat"
        mountPoint = found.point
    }

    /// Since the device was made. nil when it is gone.
    package func writtenBytes() -> UInt64? {
        Self.writtenBytes(statistics: ProcessFile.text(statisticsPath))
    }

    /// The seventh of its numbers: sectors written.
    static func writtenBytes(statistics: String) -> UInt64? {
        let fields = statistics.split { $0 == " " || $0 == "\n" }
        return fields.count > 6 ? UInt64(fields[6]).map { $0 * sectorBytes } : nil
    }

    private struct Mount {
        var device: String
        /// What of the file system is mounted.
        var root: String
        var point: String

        init?(_ line: Substring) {
            // An identifier, the parent's, the device, the root, the place.
            let fields = line.split(separator: " ")
            guard fields.count > 4 else { return nil }
            device = String(fields[2])
            root = String(fields[3])
            point = Self.plain(fields[4])
        }

        /// The path with its spaces, tabs and the like, which are written as a backslash and three octal digits.
        private static func plain(_ field: Substring) -> String {
            var bytes: [UInt8] = []
            var rest = field.utf8[...]
            while let byte = rest.popFirst() {
                let digits = String(rest.prefix(3)) ?? ""
                if byte == UInt8(ascii: "\\"), digits.utf8.count == 3, let code = UInt8(digits, radix: 8) {
                    bytes.append(code)
                    rest = rest.dropFirst(3)
                } else {
                    bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        func holds(_ directory: String) -> Bool {
            point == "/" || directory == point || directory.hasPrefix(point + "/")
        }
    }
}
