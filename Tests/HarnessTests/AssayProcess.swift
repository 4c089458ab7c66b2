import Files
import Platform
import Testing

@testable import Harness

/// The real executable, run from a test.
struct AssayProcess {
    struct End: Sendable {
        var status: ChildEnd
        var output: String
    }

    /// The executable beside the test bundle; one command builds both.
    static let executable: String? = {
        let words = CommandLine.arguments + [Checkout.executablePath(fallback: "")]
        for word in words {
            guard let range = word.firstRange(of: ".xctest") else { continue }
            let bundle = String(word[..<range.lowerBound])
            guard let slash = bundle.lastIndex(of: "/") else { continue }
            let candidate = bundle[..<slash] + "/assay"
            if FileTree.exists(String(candidate)) { return String(candidate) }
        }
        return nil
    }()

    /// Starts it with standard output and error in `outputFile`. Returns the process id.
    static func start(_ arguments: [String], outputFile: String) throws -> Int32 {
        let executable = try #require(executable, "no assay beside the test bundle")
        return try spawn([executable] + arguments, outputFile: outputFile)
    }

    /// Starts a program with standard output and error in `outputFile`. Returns the process id.
    static func spawn(
        _ words: [String], outputFile: String, attributes: UnsafePointer<posix_spawnattr_t>? = nil
    ) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(
            &actions, STDOUT_FILENO, outputFile, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        var processID: pid_t = 0
        let status = CommandVector.with(words) { arguments in
            posix_spawn(&processID, words[0], &actions, attributes, arguments, KernelCalls.environment)
        }
        try #require(status == 0)
        return processID
    }

    static func wait(_ processID: Int32) -> ChildEnd {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        return ChildEnd(waitStatus: status)
    }

    static func run(_ arguments: [String], in directory: TestDirectory) throws -> End {
        let file = directory.path + "/output"
        let processID = try start(arguments, outputFile: file)
        return End(status: wait(processID), output: try FileTree.readText(file))
    }
}

/// A directory that is removed with the value.
final class TestDirectory: Sendable {
    let path: String

    init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
        var template = Array((base + "/assay-test-" + String(repeating: "X", count: 6)).utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileTree.remove(path)
    }
}
