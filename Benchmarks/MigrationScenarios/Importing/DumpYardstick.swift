import Files
import Harness
import Measuring

/// How long the program `sqlite3` takes to write a database as SQL and to read that SQL into another database: the cost
/// of moving the same rows with a tool that every system has.
enum DumpYardstick {
    /// - Returns: nil if this system has no `sqlite3`.
    static func nanoseconds(_ database: String, into copy: String) throws -> UInt64? {
        let output = copy + ".out"
        let quoted = [database, copy].map { "'\($0)'" }
        let script = "command -v sqlite3 || exit 127; sqlite3 \(quoted[0]) .dump | sqlite3 \(quoted[1])"
        var program = ChildProgram(["sh", "-c", script], outputFile: output)
        // Without the preloaded library, so that the calls of `sqlite3` do not count as the case's.
        program.environment = WorkerEnvironment.inherited().filter { !$0.hasPrefix("LD_PRELOAD=") }
        let start = MonotonicClock.now()
        let end = try program.run()
        let time = MonotonicClock.now() - start
        try FileTree.remove(output)
        return end == .exited(0) && FileTree.exists(copy) ? time : nil
    }
}
