import Measuring
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Counts the instructions of a worker by running it once more, under valgrind's cachegrind: a number that hardly hangs
/// on what else the machine does.
///
/// It counts the whole process, from its first instruction on. The program that runs is a copy without debugging
/// information, which not every valgrind can read, and without the preloaded library beside it.
package struct InstructionCounter: Sendable {
    /// Why there is none, with what helps.
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    package static let metric = Metric("instructions", unit: "count", .lowerIsBetter, .measured)
    /// What a run without a counter lists as not built.
    package static let name = "instruction counts"
    package static let remedy = "apt-get install valgrind binutils"

    /// The order in which a set or a dictionary is walked is the same in every process.
    package static let variables = ["SWIFT_DETERMINISTIC_HASHING=1"]

    let valgrind: String
    /// The copy.
    let executable: String

    /// Makes the copy in a directory of the run.
    ///
    /// Throws: `Missing` where a program is not there or fails.
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

    /// An installed program finds the Swift runtime beside itself, and so does its copy.
    private static func linkRuntime(of executable: String, into directory: String) throws {
        guard let slash = executable.lastIndex(of: "/") else { return }
        let place = String(executable[..<slash])
        for name in try FileTree.names(in: place) where name.hasSuffix(".so") && name != Preload.libraryName {
            guard symlink("\(place)/\(name)", "\(directory)/\(name)") == 0 || errno == EEXIST else {
                throw HarnessError("cannot link \(directory)/\(name): \(systemMessage())")
            }
        }
    }

    /// What stands in front of the words of a worker.
    ///
    /// - Parameter place: a directory of the measurement, where the counts go.
    func words(place: String) -> [String] {
        [
            valgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=\(place)/instructions.%p",
            "--log-file=\(place)/valgrind.%p",
        ]
    }

    /// Of the process of that id, without its children: a forked one begins with the count of its parent. nil where
    /// nothing was counted.
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
