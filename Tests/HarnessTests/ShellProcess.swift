import Files
import Platform
import Testing

@testable import Harness

/// A shell with `assay` in its path, as a user has one.
struct ShellProcess {
    let directory: TestDirectory

    init(_ directory: TestDirectory) throws {
        self.directory = directory
        let found = try #require(AssayProcess.executable, "no assay beside the test bundle")
        // The path of the test bundle may be relative to the working directory of its start.
        let resolved = try #require(realpath(found, nil))
        defer { free(resolved) }
        let executable = String(cString: resolved)
        try FileTree.createDirectory(directory.path + "/bin")
        try #require(symlink(executable, directory.path + "/bin/assay") == 0 || errno == EEXIST)
    }

    /// Starts the lines. Returns the shell's process id.
    func start(_ script: String, output: String = "shell-output") throws -> Int32 {
        // Tests that run in the background ignore SIGINT. A user's shell does not.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // Threads of the test runner block signals, and a child would inherit the mask.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let lines = "cd \(ShellWord.quoted(directory.path))\nPATH=$PWD/bin:$PATH\nexport PATH\n\(script)\n"
        return try AssayProcess.spawn(
            ["/bin/sh", "-c", lines], outputFile: directory.path + "/" + output, attributes: &attributes)
    }

    func run(_ script: String) throws -> AssayProcess.End {
        let processID = try start(script)
        return AssayProcess.End(
            status: AssayProcess.wait(processID), output: try FileTree.readText(directory.path + "/shell-output"))
    }
}
