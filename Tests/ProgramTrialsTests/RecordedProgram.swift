import Files
import Harness
import Testing

@testable import ProgramTrials

/// A program that ran under the recorder in its own directory.
struct RecordedProgram {
    let run: TracedRun
    let after: DirectorySnapshot
    /// Deleted with the value.
    let scratch: TrialDirectory
    /// Where the program ran.
    var root: String { scratch.path + "/data" }

    /// - Parameters:
    ///   - parent: the parent of its directory; nil for the system's temporary directory.
    ///   - prepare: called with the directory before the program begins.
    init(
        _ words: [String], in parent: String? = nil, volatile: [String] = [],
        prepare: (String) throws -> Void = { _ in }
    ) throws {
        scratch = try TrialDirectory(in: parent)
        let root = scratch.path + "/data"
        try FileTree.createDirectory(root)
        try prepare(root)
        let library = try #require(PreloadFolder.library)
        var program = WatchedProgram(words, library: library)
        program.directory = root
        program.output = .pipe
        let names = try VolatileNames(adding: volatile)
        run = try Recorder(program, directory: root, volatile: names, in: scratch.path).run()
        after = try DirectorySnapshot(of: root, without: names)
    }

    static func shell(
        _ script: String, in parent: String? = nil, volatile: [String] = [],
        prepare: (String) throws -> Void = { _ in }
    ) throws -> RecordedProgram {
        try RecordedProgram(["/bin/sh", "-c", script], in: parent, volatile: volatile, prepare: prepare)
    }

    /// The path of a program that is compiled from C.
    static func compile(_ source: String, in directory: TrialDirectory, _ flags: [String] = []) throws -> String {
        let path = directory.path + "/program-" + flags.joined().filter(\.isLetter)
        try FileTree.writeText(path + ".c", source)
        let compiler = WatchedProgram(["clang", "-D_GNU_SOURCE", "-pthread", "-o", path, path + ".c"] + flags)
        let end = try compiler.run()
        try #require(end.hasSucceeded, "clang cannot make a program: \(end.errorText)")
        return path
    }
}
