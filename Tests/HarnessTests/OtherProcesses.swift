import Files
import Measuring
import Platform

/// Inspects processes that tests started.
enum OtherProcesses {
    /// Waits at most five minutes, since other tests use the machine, too.
    /// - Returns: whether the condition was met. An error means not yet.
    static func wait(until condition: () throws -> Bool) -> Bool {
        let deadline = MonotonicClock.now() + 300_000_000_000
        while MonotonicClock.now() < deadline {
            if let isMet = try? condition(), isMet { return true }
            usleep(5_000)
        }
        return false
    }

    static func children(of process: Int32) -> [Int32] {
        ProcessFile.text("/proc/\(process)/task/\(process)/children").split(separator: " ").compactMap { Int32($0) }
    }

    /// The files that a process and its descendants have open.
    static func openFiles(below process: Int32) -> [String] {
        let directory = "/proc/\(process)/fd"
        let names = (try? FileTree.names(in: directory)) ?? []
        let own: [String] = names.compactMap { name in
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = readlink(directory + "/" + name, &buffer, buffer.count)
            return count > 0
                ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
        }
        return children(of: process).reduce(own) { $0 + openFiles(below: $1) }
    }
}
