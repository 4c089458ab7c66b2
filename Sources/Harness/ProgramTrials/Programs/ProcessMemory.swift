import Files
import Platform

/// Memory used by a process and its descendants, from procfs.
enum ProcessMemory {
    /// 0 if unknown: the process has ended, or the system has no procfs.
    static func residentBytes(of process: pid_t) -> Int {
        let directory = "/proc/\(process)"
        guard let statistics = try? FileTree.readText(directory + "/statm") else { return 0 }
        let words = statistics.split(separator: " ")
        let pages = words.count > 1 ? Int(words[1]) ?? 0 : 0
        let own = pages * Int(sysconf(Int32(_SC_PAGESIZE)))
        guard let children = try? FileTree.readText(directory + "/task/\(process)/children") else { return own }
        return children.split(separator: " ").compactMap { pid_t($0) }.reduce(own) { $0 + residentBytes(of: $1) }
    }
}
