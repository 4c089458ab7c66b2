import Files
import Measuring
import Platform
import RunRecords
import Synchronization

/// A memory cgroup (version 2) for one worker. It limits the memory of the worker and its children, together with the
/// page cache of the files that they read.
///
/// No other limit does that. RLIMIT_AS limits address space, which mapped files use even if little of them is in
/// memory, and no `ulimit` limits the page cache. So a case with a memory limit is skipped, with the reason, if no such
/// group can be made.
package struct MemoryGroup: Sendable {
    /// A directory in which groups can be made, or why there is none.
    package enum Place: Sendable, Equatable {
        case directory(String)
        case missing(String)
    }

    /// The environment variable that names a cgroup of version 2 in which this user may make groups.
    package static let variable = "ASSAY_CGROUP"

    /// What the kernel counted for the group.
    package struct Events: Sendable, Equatable {
        /// How often the limit was reached.
        package var reached: Int
        /// How many processes the kernel killed for it.
        package var killed: Int
    }

    private static let made = Atomic<Int>(0)
    private let path: String

    /// The group that the environment names, or else the group of this process.
    package static func place() -> Place {
        if let given = getenv(variable) { return place(String(cString: given)) }
        func line(_ file: String, _ matches: (Substring) -> Bool) -> Substring? {
            ProcessFile.text("/proc/self/\(file)").split(separator: "\n").first(where: matches)
        }
        guard let mount = line("mountinfo", { $0.contains(" - cgroup2 ") })?.split(separator: " ").dropFirst(4).first,
            let own = line("cgroup", { $0.hasPrefix("0::") })
        else { return .missing("no cgroup of version 2 is mounted") }
        let group = own.dropFirst("0::".count)
        return place(String(mount) + (group == "/" ? "" : String(group)))
    }

    /// - Parameter directory: the directory of a cgroup.
    static func place(_ directory: String) -> Place {
        func words(_ name: String) -> [Substring] {
            ProcessFile.text("\(directory)/\(name)").split { $0 == " " || $0 == "\n" }
        }
        let remedy = "\(variable)=DIR names one whose cgroup.subtree_control has memory and that may be written"
        guard words("cgroup.controllers").contains("memory") else {
            return .missing("the cgroup \(directory) has no memory controller; \(remedy)")
        }
        guard words("cgroup.subtree_control").contains("memory") else {
            return .missing("groups in the cgroup \(directory) get no memory controller; \(remedy)")
        }
        guard access(directory, W_OK) == 0, access(directory + "/cgroup.procs", W_OK) == 0 else {
            return .missing("the cgroup \(directory) may not be written; \(remedy)")
        }
        return .directory(directory)
    }

    /// Why a case with a memory limit cannot run here; nil if it can, or has no limit.
    static func reasonToSkip(_ test: Case) -> String? {
        guard test.amount(.memoryLimit) > 0, case .missing(let reason) = place() else { return nil }
        return reason
    }

    /// Makes the group that the case asks for. It drops the cached pages of `files`, which would otherwise not be
    /// charged to the worker's group, but to the group that read them first.
    static func make(for test: Case, reading files: [DatabaseFile]) throws -> MemoryGroup? {
        guard test.amount(.memoryLimit) > 0, case .directory(let directory) = place() else { return nil }
        try PageCache.drop(files.map(\.path))
        return try MemoryGroup(in: directory, megabytes: test.amount(.memoryLimit))
    }

    /// Makes a group with the limit, and without swap.
    ///
    /// - Parameter directory: the directory of a `Place`.
    init(in directory: String, megabytes: Int) throws {
        let number = Self.made.wrappingAdd(1, ordering: .relaxed).newValue
        path = "\(directory)/assay-\(getpid())-\(number)"
        guard mkdir(path, 0o755) == 0 else { throw HarnessError("cannot make the cgroup \(path): \(systemMessage())") }
        do {
            try Self.write("\(megabytes << 20)", to: path + "/memory.max")
            // Without this, a kernel that accounts for swap would let the worker have as much swap.
            if access(path + "/memory.swap.max", F_OK) == 0 { try Self.write("0", to: path + "/memory.swap.max") }
        } catch {
            remove()
            throw error
        }
    }

    /// Moves a worker into the group, before the worker gets its request: memory stays charged to the group that first
    /// used it.
    func take(_ processID: Int32) throws {
        try Self.write("\(processID)", to: path + "/cgroup.procs")
    }

    var events: Events {
        var counts: [Substring: Int] = [:]
        for line in ProcessFile.text(path + "/memory.events").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { counts[words[0]] = Int(words[1]) }
        }
        return Events(reached: counts["max"] ?? 0, killed: counts["oom_kill"] ?? 0)
    }

    /// Removes the group, after all its processes have ended: the kernel refuses to remove a group with processes.
    func remove() {
        // The kernel keeps the last process in the group for a moment after the process was waited for.
        for _ in 0..<50 where rmdir(path) != 0 && errno == EBUSY { usleep(2_000) }
    }

    private static func write(_ text: String, to path: String) throws {
        // The files exist as soon as the group does: they are opened and never created.
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw HarnessError("cannot open \(path): \(systemMessage())") }
        defer { close(descriptor) }
        try FileTree.writeAll(descriptor, Array(text.utf8), path: path)
    }
}
