import Files
import Platform
import RunRecords

/// Finds where one case spends its time: runs it once more under callgrind or perf, and keeps the profile.
///
/// The measurements of that run are dropped. Callgrind counts every instruction of the worker, its start included, and
/// slows it down fifty times. Perf samples the worker and its children 999 times per second of processor time, with
/// little overhead.
package struct Profiler: Sendable {
    package enum Tool: String, Sendable, CaseIterable {
        case callgrind, perf
    }

    /// The profiler is not installed or failed; the message has the remedy.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    package let tool: Tool
    private let program: String
    /// The directory and common prefix of the profile's files.
    private let base: String
    private let directory: String

    /// Throws: `Missing` if the profiler is not installed.
    package static func check(_ tool: Tool) throws(Missing) {
        _ = try program(tool)
    }

    private static func program(_ tool: Tool) throws(Missing) -> String {
        switch tool {
        case .callgrind:
            if let found = InstructionCounter.find("valgrind"), InstructionCounter.find("strip") != nil { return found }
            throw Missing(description: "--profile callgrind needs valgrind and strip: \(InstructionCounter.remedy)")
        case .perf:
            if let found = InstructionCounter.find("perf") { return found }
            throw Missing(description: "--profile perf needs perf: apt-get install linux-perf")
        }
    }

    /// - Parameters:
    ///   - run: the directory of the run; the files go to `profiles` in it.
    ///   - scratch: a directory that may be removed afterwards.
    package init(_ tool: Tool, of id: String, run: RunDirectory, scratch: String) throws {
        self.tool = tool
        program = try Self.program(tool)
        directory = scratch
        base = run.profileBase(id)
        try FileTree.createDirectory(run.path + "/profiles")
    }

    /// The profiler's own output, which its own viewers read.
    package var rawFile: String { tool == .perf ? base + ".perf.data" : base + ".callgrind" }
    package var foldedFile: String { base + ".folded" }
    package var graphFile: String { base + ".html" }

    package func front(executable: String) throws -> ProcessFront {
        switch tool {
        case .callgrind:
            let counter = try InstructionCounter(executable: executable, directory: directory)
            let words = [
                program, "--tool=callgrind", "--callgrind-out-file=\(rawFile).%p", "--log-file=\(directory)/log",
            ]
            return ProcessFront(executable: counter.executable, words: words, isParentOurs: true)
        case .perf:
            let words = [
                program, "record", "-q", "-F", "999", "-e", "cpu-clock:u", "--call-graph", "fp", "-o", rawFile, "--",
            ]
            return ProcessFront(executable: executable, words: words, isParentOurs: false)
        }
    }

    /// Reads the profile of a worker that has ended, and writes its stacks into a file beside it.
    ///
    /// Throws: `Missing` if there is no readable profile.
    package func stacks(processID: Int32) throws -> FoldedStacks {
        let stacks: FoldedStacks
        switch tool {
        case .callgrind:
            let written = "\(rawFile).\(processID)"
            guard FileTree.exists(written), rename(written, rawFile) == 0 else { throw nothing("no \(written)") }
            // A forked child has a file, too, which begins with its parent's cost: remove these files.
            try removeOthers()
            stacks = CallgrindFile(try FileTree.readText(rawFile)).stacks
        case .perf:
            let text = directory + "/perf.txt"
            try FileTree.createDirectory(directory)
            let end = try ChildProgram(
                [program, "script", "-i", rawFile, "-F", "comm,ip,sym"], outputFile: text, errorFile: text + ".log"
            ).run()
            guard end == .exited(0) else { throw nothing("perf script ended with \(end)") }
            stacks = PerfScript.stacks(try FileTree.readText(text))
        }
        guard stacks.root.cost > 0 else { throw nothing("it saw nothing") }
        let readable = FoldedStacks(unit: stacks.unit, root: Self.readable(stacks.root))
        try FileTree.replaceText(foldedFile, readable.text)
        return readable
    }

    private func nothing(_ reason: String) -> Missing {
        let remedy = tool == .perf ? "; perf may need  sysctl kernel.perf_event_paranoid=2" : ""
        return Missing(description: "\(tool.rawValue) gave no profile: \(reason)\(remedy)")
    }

    private func removeOthers() throws {
        guard let slash = rawFile.lastIndex(of: "/") else { return }
        let (folder, name) = (String(rawFile[..<slash]), String(rawFile[rawFile.index(after: slash)...]))
        for other in try FileTree.names(in: folder) where other.hasPrefix(name + ".") {
            try FileTree.remove("\(folder)/\(other)")
        }
    }

    // MARK: Names

    private static func readable(_ node: FoldedStacks.Node) -> FoldedStacks.Node {
        FoldedStacks.Node(
            name: demangled(node.name), cost: node.cost, children: node.children.map(readable))
    }

    private typealias Demangle =
        @convention(c) (
            UnsafePointer<CChar>?, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32
        ) -> UnsafeMutablePointer<CChar>?

    /// Swift's runtime can demangle Swift's names; all others stay as they are.
    static func demangled(_ name: String) -> String {
        guard name.hasPrefix("$s"), let symbol = dlsym(nil, "swift_demangle") else { return name }
        let demangle = unsafeBitCast(symbol, to: Demangle.self)
        guard let text = demangle(name, name.utf8.count, nil, nil, 0) else { return name }
        defer { free(text) }
        return String(cString: text)
    }
}
