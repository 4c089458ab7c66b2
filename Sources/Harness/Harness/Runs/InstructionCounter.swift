import Files
import Measuring
import Platform
import RunRecords

/// Counts the instructions of a worker in an additional run under valgrind's cachegrind: a number that hardly depends
/// on the load of the machine.
///
/// It counts the whole process, from its first instruction on. The worker runs a copy of the program: without debugging
/// information, which some versions of valgrind cannot read, and without the preloaded library beside it.
package struct InstructionCounter: Sendable {
    /// Why instructions cannot be counted, with the remedy.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    package static let metric = Metric("instructions", unit: "count", .lowerIsBetter, .measured)
    /// The name by which a run that cannot count instructions lists this counter as not built.
    package static let name = "instruction counts"
    package static let remedy = "apt-get install valgrind binutils"

    /// Makes the iteration order of sets and dictionaries equal in every process.
    package static let variables = ["SWIFT_DETERMINISTIC_HASHING=1"]

    let valgrind: String
    /// The copy of the program without debugging information.
    let executable: String

    /// Makes the copy in a directory of the run.
    ///
    /// Throws: `Missing` if a tool is not installed or fails.
    package init(executable: String, directory: String) throws {
        guard let valgrind = Self.find("valgrind"), let strip = Self.find("strip") else {
            throw Missing(description: "instructions are not counted: \(Self.remedy)")
        }
        self.valgrind = valgrind
        self.executable = directory + "/assay-without-symbols"
        try FileTree.createDirectory(directory)
        try Self.linkRuntime(of: executable, into: directory)
        let log = directory + "/strip.log"
        let end = try ChildProgram([strip, "-g", "-o", self.executable, executable], outputFile: log).run()
        guard end == .exited(0) else {
            let said = try FileTree.readText(log).suffix(200)
            throw Missing(description: "instructions are not counted: \(strip) ended with \(end): \(said)")
        }
    }

    /// An installed program finds the Swift runtime in its own directory, and its copy must find it there, too.
    private static func linkRuntime(of executable: String, into directory: String) throws {
        guard let slash = executable.lastIndex(of: "/") else { return }
        let place = String(executable[..<slash])
        for name in try FileTree.names(in: place) where name.hasSuffix(".so") && name != Preload.libraryName {
            guard symlink("\(place)/\(name)", "\(directory)/\(name)") == 0 || errno == EEXIST else {
                throw HarnessError("cannot link \(directory)/\(name): \(systemMessage())")
            }
        }
    }

    /// The words before the command line of a worker.
    ///
    /// - Parameter place: a directory of the measurement, in which valgrind writes its counts.
    func words(place: String) -> [String] {
        [
            valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=\(place)/instructions.%p",
            "--log-file=\(place)/valgrind.%p",
        ]
    }

    /// The count of the process with that id, without its children: a forked child begins with the count of its parent.
    /// nil if there is no count.
    static func count(place: String, processID: Int32) throws -> Double? {
        let file = "\(place)/instructions.\(processID)"
        guard FileTree.exists(file) else { return nil }
        return count(try FileTree.readText(file))
    }

    /// From the last line of cachegrind's file, `summary: 76433787`.
    static func count(_ text: String) -> Double? {
        guard let line = text.split(separator: "\n").last, line.hasPrefix("summary: ") else { return nil }
        return line.dropFirst("summary: ".count).split(separator: " ").first.flatMap { UInt64($0) }.map { Double($0) }
    }

    static func find(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? ""
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}
