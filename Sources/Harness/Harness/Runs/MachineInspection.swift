import Files
import Measuring
import Platform
import RunRecords

/// Examines the machine of a run.
package enum MachineInspection {
    /// - Parameter directory: the directory of the databases, which must exist.
    package static func inspect(directory: String) throws -> Machine {
        let fileSystem = fileSystem(of: directory)
        let nanoseconds = try syncTime(directory: directory)
        return Machine(
            host: hostName(), system: systemName(), processor: processorName(),
            coreCount: processorCount(), memoryBytes: memoryBytes(),
            fileSystem: fileSystem, fsync: honesty(fileSystem: fileSystem, nanoseconds: nanoseconds),
            fsyncNanoseconds: nanoseconds)
    }

    /// Whether syncs take effect. No disk can sync in less than 20 us: then a controller or a hypervisor answered for
    /// it. A file system in memory stores nothing durably.
    static func honesty(fileSystem: String, nanoseconds: UInt64) -> FsyncHonesty {
        if ["tmpfs", "ramfs", "devtmpfs"].contains(fileSystem) { return .no }
        return nanoseconds < 20_000 ? .suspicious : .yes
    }

    /// The median time of overwriting 4 KiB of a file and syncing it.
    static func syncTime(directory: String) throws -> UInt64 {
        let path = directory + "/fsync-probe"
        try FileTree.writeBytes(path, [UInt8](repeating: 1, count: 64 << 10))
        defer { unlink(path) }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw HarnessError("cannot open \(path): \(systemMessage())") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw HarnessError("cannot sync \(path): \(systemMessage())") }
        var histogram = Histogram()
        var page = [UInt8](repeating: 2, count: 4_096)
        for round in 0..<24 {
            page[0] = UInt8(truncatingIfNeeded: round)
            let start = MonotonicClock.now()
            guard pwrite(descriptor, page, page.count, off_t(round % 16 * 4_096)) == page.count,
                syncData(descriptor) == 0
            else { throw HarnessError("cannot write \(path): \(systemMessage())") }
            histogram.record(MonotonicClock.now() &- start)
        }
        return histogram.quantile(0.5)
    }

    private static func syncData(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
            fdatasync(descriptor)
        #else
            fsync(descriptor)
        #endif
    }

    /// Reasons to doubt the figures that are known before the first measurement; those in capitals make figures
    /// worthless. The load of the machine is judged while cases run: ``Disturbance``.
    ///
    /// - Parameter measures: false for a plan that takes no times, whose outcomes do not depend on memory that the
    ///   system moved to the disk.
    package static func warnings(_ machine: Machine, isReleaseBuild: Bool, measures: Bool = true) -> [String] {
        warnings(machine, isReleaseBuild: isReleaseBuild, swappedBytes: measures ? swappedBytes() : nil)
    }

    static func warnings(_ machine: Machine, isReleaseBuild: Bool, swappedBytes: UInt64?) -> [String] {
        var warnings: [String] = []
        if !isReleaseBuild { warnings.append("DEBUG BUILD: the figures say nothing about speed") }
        switch machine.fsync {
        case .yes: break
        case .no: warnings.append("FSYNC NOT HONEST: \(machine.fileSystem) keeps nothing when the power fails")
        case .suspicious:
            warnings.append(
                "FSYNC SUSPICIOUS: a synced write takes \(machine.fsyncNanoseconds / 1_000) us, less than a disk needs")
        }
        if let swappedBytes, swappedBytes > 64 << 20 {
            warnings.append("swapped memory: \(swappedBytes >> 20) MiB; the figures may wait for the disk")
        }
        return warnings
    }

    /// Processors that are online, at least one.
    package static func processorCount() -> Int {
        max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    private static func swappedBytes() -> UInt64? {
        let fields = ProcessFile.fields("/proc/meminfo")
        guard let total = fields.first(where: { $0.name == "SwapTotal" })?.value,
            let free = fields.first(where: { $0.name == "SwapFree" })?.value
        else { return nil }
        return (total - min(free, total)) << 10
    }

    package static func memoryBytes() -> Int {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        let size = sysconf(Int32(_SC_PAGESIZE))
        return max(0, pages) * max(0, size)
    }

    private static func hostName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "unknown" }
        return text(buffer)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func systemName() -> String {
        for line in ProcessFile.text("/etc/os-release").split(separator: "\n") where line.hasPrefix("PRETTY_NAME=") {
            let name = line.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" }
            return "\(name), kernel \(kernelRelease())"
        }
        return kernelRelease()
    }

    private static func kernelRelease() -> String {
        let text = ProcessFile.text("/proc/sys/kernel/osrelease")
        return String(text.prefix { $0 != "\n" })
    }

    private static func processorName() -> String {
        for line in ProcessFile.text("/proc/cpuinfo").split(separator: "\n") where line.hasPrefix("model name") {
            if let colon = line.firstIndex(of: ":") {
                return String(line[line.index(after: colon)...].drop { $0 == " " })
            }
        }
        return "unknown"
    }

    /// The type of the file system that holds the directory: that of the longest mount point that its real path begins
    /// with.
    static func fileSystem(of directory: String) -> String {
        guard let resolved = realpath(directory, nil) else { return "unknown" }
        defer { free(resolved) }
        let path = String(cString: resolved)
        var best = (length: -1, type: "unknown")
        for line in ProcessFile.text("/proc/self/mountinfo").split(separator: "\n") {
            let halves = line.split(separator: " ")
            guard halves.count > 5, let dash = halves.firstIndex(of: "-"), dash + 1 < halves.count else { continue }
            let mount = String(halves[4])
            let isPrefix = path == mount || mount == "/" || path.hasPrefix(mount + "/")
            // A later mount at the same point hides the earlier one.
            if isPrefix && mount.utf8.count >= best.length {
                best = (mount.utf8.count, String(halves[dash + 1]))
            }
        }
        return best.type
    }
}
