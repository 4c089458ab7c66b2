import Platform
import StrataFiles
import Testing

@testable import StrataStorageTests

/// The real executable, run from a test.
struct StrataProcess {
    var status: Int32
    var output: String
    var error: String

    static let executable = BuiltProgram.path("strata")

    /// Runs it with standard output and error in files of the directory.
    static func run(
        _ arguments: [String], in directory: String, outputFile: String? = nil, fileSizeLimit: UInt? = nil,
        processorSeconds: Int? = nil
    ) throws -> StrataProcess {
        let executable = try #require(executable, "no strata beside the test bundle")
        let output = outputFile ?? directory + "/stdout"
        let error = directory + "/stderr"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        var words: [String] = [executable] + arguments
        if let fileSizeLimit {
            // SIGXFSZ is ignored, so that a write beyond the limit fails as on a full disk.
            words = ["/bin/sh", "-c", "trap '' XFSZ; ulimit -f \(fileSizeLimit); exec \"$@\"", "sh"] + words
        }
        if let processorSeconds {
            words = ["/bin/sh", "-c", "ulimit -t \(processorSeconds); exec \"$@\"", "sh"] + words
        }
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var processID: pid_t = 0
        try #require(posix_spawn(&processID, words[0], &actions, nil, pointers, environ) == 0)
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        // Killed by a signal: a number outside of exit statuses.
        let end = status & 0x7F == 0 ? status >> 8 & 0xFF : 1000 + (status & 0x7F)
        return StrataProcess(
            status: end, output: outputFile == nil ? try read(output) : "", error: try read(error))
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        let file = try POSIXFileSystem().open(path, .read)
        defer { file.close() }
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }

    static func read(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try POSIXFileSystem().open(path, .createOrOpen)
        defer { file.close() }
        try file.truncate(to: 0)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }
}
