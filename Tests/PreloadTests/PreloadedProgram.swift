import Platform
import Testing

/// A program built beside the tests, run under the preloaded library in its own directory.
struct PreloadedProgram {
    var status: Int32
    /// The printed lines of the form `name number`, in their order.
    var lines: [(name: String, value: Int)] = []
    var text: String

    /// The last value printed under a name.
    subscript(_ name: String) -> Int? { lines.last { $0.name == name }?.value }

    /// Every answer to a commit.
    var commits: [Int] { lines.filter { $0.name == "commit" }.map(\.value) }

    /// The counts that are not 0, by their names.
    var counts: [String: Int] {
        Dictionary(
            lines.filter { Self.fieldNames.contains($0.name) }.map { ($0.name, $0.value) },
            uniquingKeysWith: { $1 })
    }

    static let fieldNames: Set<String> = [
        "write_calls", "written_bytes", "read_calls", "read_bytes", "log_write_calls", "log_written_bytes",
        "sync_calls", "failed_sync_calls", "synced_write_calls", "range_sync_calls", "file_system_syncs",
        "directory_syncs", "map_syncs", "truncations", "allocations", "opens", "renames", "links", "unlinks",
        "shared_writable_maps", "unseen_calls", "delayed_syncs", "delayed_writes",
    ]

    /// The directory of built programs and libraries.
    static let folder: String? = {
        var words = CommandLine.arguments
        if let path = realpath("/proc/self/exe", nil) {
            words.append(String(cString: path))
            free(path)
        }
        for word in words {
            guard let range = word.firstRange(of: ".xctest") else { continue }
            let bundle = word[..<range.lowerBound]
            guard let slash = bundle.lastIndex(of: "/") else { continue }
            let folder = String(bundle[..<slash])
            if access(folder + "/PreloadProbe", X_OK) == 0 { return folder }
        }
        return nil
    }()

    /// The thread sanitizer has to intercept calls first, and a library built with it cannot be loaded into programs
    /// without it.
    static let isPossible = dlsym(nil, "__tsan_init") == nil

    static func library() throws -> String {
        let folder = try #require(folder, "no PreloadProbe beside the test bundle")
        let path = folder + "/libAssayPreload.so"
        try #require(access(path, R_OK) == 0, "no libAssayPreload.so beside the test bundle")
        return path
    }

    /// Words of the probe, with spaces between them.
    static func probe(
        _ words: String, in directory: TestDirectory, logs: String = "*.log", before: [String] = [],
        after: [String] = []
    ) throws -> PreloadedProgram {
        let folder = try #require(folder, "no PreloadProbe beside the test bundle")
        return try run(
            [folder + "/PreloadProbe"] + words.split(separator: " ").map(String.init), in: directory, logs: logs,
            libraries: before + [try library()] + after)
    }

    static func run(
        _ command: [String], in directory: TestDirectory, logs: String, libraries: [String],
        watches: Bool = true
    ) throws -> PreloadedProgram {
        let output = directory.path + ".output"
        defer { unlink(output) }
        var settings = ["LD_PRELOAD=" + libraries.joined(separator: ":"), "ASSAY_IO_LOG_NAMES=" + logs]
        if watches { settings.append("ASSAY_IO_ROOT=" + directory.path) }
        // A shell sets directory and environment only for the program that it starts.
        let script = "cd \"$1\"; shift; exec env \"$@\""
        let words = ["/bin/sh", "-c", script, "sh", directory.path] + settings + command
        let status = try spawn(words, output: output)
        let text = try read(output)
        return PreloadedProgram(status: status, lines: text.split(separator: "\n").compactMap(line), text: text)
    }

    private static func line(_ text: Substring) -> (name: String, value: Int)? {
        let words = text.split(separator: " ")
        guard words.count == 2, let value = Int(words[1]) else { return nil }
        return (String(words[0]), value)
    }

    /// Runs a command with its output in a file. The exit status, or 1000 and the signal.
    static func spawn(_ words: [String], output: String) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var processID: pid_t = 0
        try #require(posix_spawn(&processID, words[0], &actions, nil, pointers, environ) == 0)
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 1000 + (status & 0x7F)
    }

    static func read(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        // Not by fputs, which stops at a zero byte.
        let bytes = Array(text.utf8)
        try #require(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }
}

/// A library that a test builds from a few lines of C.
struct PlantedLibrary {
    let path: String

    /// Fails every call of `name`, which takes a descriptor, from the `first` on, `count` times.
    static func failing(_ name: String, first: Int, count: Int, in directory: TestDirectory) throws -> PlantedLibrary {
        try PlantedLibrary(
            named: "failing",
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            int \(name)(int fd) {
                static int calls;
                int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "\(name)");
                calls++;
                if (calls < \(first) || calls >= \(first + count)) return next(fd);
                errno = EIO;
                return -1;
            }
            """, in: directory)
    }

    init(named name: String, _ source: String, in directory: TestDirectory) throws {
        path = directory.path + "-" + name + ".so"
        let sourcePath = directory.path + "-" + name + ".c"
        try PreloadedProgram.write(source + "\n", to: sourcePath)
        defer { unlink(sourcePath) }
        let words = ["/usr/bin/env", "clang", "-O1", "-shared", "-fPIC", "-o", path, sourcePath, "-ldl"]
        let status = try PreloadedProgram.spawn(words, output: "/dev/null")
        try #require(status == 0, "clang cannot make a library")
        directory.remove(with: path)
    }
}

/// A directory that is deleted with the object, together with its files.
final class TestDirectory {
    let path: String
    private var companions: [String] = []

    init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
        var template = Array((base + "/assay-preload-" + String(repeating: "X", count: 6)).utf8CString)
        try #require(mkdtemp(&template) != nil)
        let made = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let real = try #require(realpath(made, nil))
        defer { free(real) }
        path = String(cString: real)
    }

    /// Deletes this file together with the directory.
    func remove(with companion: String) { companions.append(companion) }

    deinit {
        for companion in companions { unlink(companion) }
        Self.remove(path)
    }

    private static func remove(_ path: String) {
        guard let directory = opendir(path) else {
            unlink(path)
            return
        }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { remove(path + "/" + name) }
        }
        closedir(directory)
        rmdir(path)
    }
}
