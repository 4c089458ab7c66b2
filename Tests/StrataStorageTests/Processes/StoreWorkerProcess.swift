import Platform
import StrataStorage
import Testing

/// A StoreWorker, run by a test. Killed with the object.
final class StoreWorkerProcess {
    static let executable = BuiltProgram.path("StoreWorker")

    private(set) var processID: pid_t = 0
    private let output: String
    private var isReaped = false
    /// The result of ``wait()``.
    private(set) var status: Int32?

    /// - Parameters:
    ///   - name: the name of its output files beside the store.
    ///   - user: the user of the process, by number; nil for this process's.
    ///   - output: another place for its output.
    init(_ path: String, _ words: [String], name: String, user: UInt32? = nil, output: String? = nil) throws {
        let executable = try #require(Self.executable, "no StoreWorker beside the tests")
        self.output = (output ?? path) + "." + name
        let output = self.output
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_addopen(&actions, 2, output + ".errors", O_WRONLY | O_CREAT | O_APPEND, 0o644)
        let change = user.map { ["setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups"] } ?? []
        let command = change + [executable, path] + words
        var words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let status = posix_spawnp(&processID, command[0], &actions, nil, &words, environ)
        try #require(status == 0)
    }

    deinit { if !isReaped { end(SIGKILL) } }

    /// The output so far, of all processes of this name.
    var said: String { Self.text(output) }
    var errors: String { Self.text(output + ".errors") }

    func count(_ letter: Character) -> Int { said.count { $0 == letter } }

    /// Waits until it has printed a letter this many times.
    func waitFor(_ letter: Character, times: Int = 1) throws {
        for _ in 0..<60_000 {
            if count(letter) >= times { return }
            if !errors.isEmpty { break }
            usleep(1000)
        }
        Issue.record("never said \(letter) \(times) times: \(said.suffix(20)) \(errors)")
        throw StorageError.closed
    }

    func signal(_ number: Int32) { kill(processID, number) }

    /// Stops it, and waits until all its threads have stopped. `kill` returns earlier: one thread takes the signal and
    /// then stops the others, and on a busy machine another thread may serve a request first.
    func pause() throws {
        signal(SIGSTOP)
        try waitForStop(seconds: 60)
    }

    /// Sends a signal and waits for the end.
    func end(_ number: Int32) {
        signal(number)
        _ = wait()
    }

    /// - Returns: the exit status, or the negative number of the signal that ended it.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        return reaped(status)
    }

    private func reaped(_ word: Int32) -> Int32 {
        isReaped = true
        let found = word & 0x7F == 0 ? (word >> 8) & 0xFF : -(word & 0x7F)
        status = found
        return found
    }

    var isRunning: Bool {
        if isReaped { return false }
        var word: Int32 = 0
        guard waitpid(processID, &word, WNOHANG) == processID else { return true }
        _ = reaped(word)
        return false
    }

    /// Waits for the end, for tests of hanging processes.
    func waitForEnd(seconds: Int) throws {
        if isReaped { return }
        try poll(seconds) {
            var word: Int32 = 0
            guard waitpid(processID, &word, WNOHANG) == processID else { return false }
            _ = reaped(word)
            return true
        }
    }

    /// - Returns: false when it ended first.
    func waitForLetterOrEnd(_ letter: Character, seconds: Int) throws -> Bool {
        var word: Int32 = 0
        try poll(seconds) {
            if count(letter) > 0 { return true }
            guard waitpid(processID, &word, WNOHANG) == processID else { return false }
            _ = reaped(word)
            return true
        }
        return !isReaped
    }

    /// Waits until it has stopped.
    func waitForStop(seconds: Int) throws {
        var word: Int32 = 0
        try poll(seconds) { waitpid(processID, &word, WNOHANG | WUNTRACED) == processID }
        try #require(word & 0xFF == 0x7F, "it ended: \(errors)")
    }

    private func poll(_ seconds: Int, _ isDone: () -> Bool) throws {
        for _ in 0..<(seconds * 2000) {
            if isDone() { return }
            usleep(500)
        }
        Issue.record("waited \(seconds) s in vain: \(said.suffix(20)) \(errors)")
        throw StorageError.closed
    }

    static func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
