import Platform

/// Counts the bytes that reached the block device of a file system that is mounted only for the run.
///
/// A device counts the writes of all processes, and the kernel's count for a process (`write_bytes`) counts dirtied
/// pages: up to a mebibyte for a write of four kilobytes. So there is a counter only if the directory's file system has
/// a block device, is not that of `/`, and is mounted once. Otherwise the initializer returns nil, and a report has no
/// figure instead of 0.
///
/// Dirty pages are not on the device yet: to include them, sync the file system before reading the count. Writes of the
/// journal and of metadata are included.
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

    /// - Parameter mounts: the lines of mountinfo(5).
    init?(directory: String, mounts: String) {
        let lines = mounts.split(separator: "\n").compactMap(Mount.init)
        // The deepest mount point that contains the directory; of several mounts at one point the latest, which hides
        // the others.
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

    /// The bytes that the device has written since it was attached. nil if it was detached.
    package func writtenBytes() -> UInt64? {
        Self.writtenBytes(statistics: ProcessFile.text(statisticsPath))
    }

    /// The seventh number of the statistics is the count of sectors written.
    static func writtenBytes(statistics: String) -> UInt64? {
        let fields = statistics.split { $0 == " " || $0 == "\n" }
        return fields.count > 6 ? UInt64(fields[6]).map { $0 * sectorBytes } : nil
    }

    private struct Mount {
        var device: String
        /// The mounted subtree of the file system.
        var root: String
        var point: String

        init?(_ line: Substring) {
            // The fields are an identifier, the parent's identifier, the device, the root and the mount point.
            let fields = line.split(separator: " ")
            guard fields.count > 4 else { return nil }
            device = String(fields[2])
            root = String(fields[3])
            point = Self.plain(fields[4])
        }

        /// Unescapes spaces, tabs and other characters, which mountinfo writes as a backslash and three octal digits.
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
