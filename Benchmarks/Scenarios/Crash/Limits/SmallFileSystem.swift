import Files
import Harness
import Platform

/// A small file system that is mounted only for this process and its children, and can be filled.
///
/// Created after `ProcessRights.takeOwnMounts`: when these processes end, the kernel removes the mount and with it the
/// loop device.
struct SmallFileSystem {
    enum Kind: String, CaseIterable {
        case tmpfs, ext4, xfs, btrfs

        /// The smallest size that its tools create, or in which most scripts fit.
        fileprivate var leastMebibytes: Int {
            switch self {
            case .tmpfs, .ext4: 48
            case .xfs: 320
            case .btrfs: 160
            }
        }

        /// The command that creates one in a file; the file is its last argument.
        fileprivate var maker: [String]? {
            switch self {
            case .tmpfs: nil
            case .ext4: ["mkfs.ext4", "-q", "-F", "-m", "0"]
            case .xfs: ["mkfs.xfs", "-q", "-f"]
            case .btrfs: ["mkfs.btrfs", "-q", "-f", "-m", "single"]
            }
        }

        /// Why this machine cannot have one; nil where it probably can.
        var reasonAgainst: String? {
            guard ProcessRights.isRoot || self == .tmpfs else {
                return "this process is not root, and may not mount it"
            }
            for program in [maker?[0], "mount"].compactMap({ $0 }) where SmallFileSystem.path(of: program) == nil {
                return "\(program) is not installed"
            }
            return nil
        }
    }

    private static let directories = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]

    private static func path(of program: String) -> String? {
        directories.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    let kind: Kind
    /// The mount point.
    let directory: String
    private var image: String { directory + ".image" }
    private var ballast: String { directory + "/ballast" }

    /// Creates and mounts it.
    ///
    /// `bytes`: the content that must fit while it is not filled.
    init(_ kind: Kind, at directory: String, holding bytes: Int = 0) throws {
        // Twice the content, for the engine's other files and for the file system itself.
        let mebibytes = max(kind.leastMebibytes, 16 + bytes >> 19)
        self.kind = kind
        self.directory = directory
        try FileTree.createDirectory(directory)
        let options: [String]
        if let maker = kind.maker {
            try FileTree.remove(image)
            try FileTree.writeBytes(image, [UInt8]())
            try FileTree.truncate(image, to: mebibytes << 20)
            try Self.run(maker + [image], log: directory + ".log")
            options = ["-o", "loop", image]
        } else {
            options = ["-o", "size=\(mebibytes)m", "none"]
        }
        try Self.run(["mount", "-t", kind.rawValue] + options + [directory], log: directory + ".log")
    }

    /// Runs a program of the system, in an environment without this process's variables.
    private static func run(_ words: [String], log: String) throws {
        guard let path = path(of: words[0]) else { throw HarnessError("\(words[0]) is not installed") }
        var program = ChildProgram([path] + words.dropFirst(), outputFile: log)
        program.environment = ["PATH=\(directories.joined(separator: ":"))", "LC_ALL=C"]
        guard try program.run() == .exited(0) else {
            let text = try FileTree.readText(log).split(separator: "\n").last.map(String.init) ?? ""
            throw HarnessError("`\(words.joined(separator: " "))` failed: \(text)")
        }
    }

    /// Unmounts it lazily: a process may still have files in it open.
    func unmount() {
        #if canImport(Glibc)
            let detach: Int32 = 2
            _ = umount2(directory, detach)
        #endif
        do { try FileTree.remove(image) } catch {}
    }

    var freeBytes: Int { HarnessFault.freeBytes(directory).map { Int(clamping: $0) } ?? 0 }

    // MARK: Filling

    /// Fills all space but `bytes`, as exactly as the file system can.
    func fill(leaving bytes: Int) throws {
        let descriptor = open(ballast, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HarnessError("no ballast: \(systemMessage())") }
        defer { close(descriptor) }
        var size = 0
        // The filling file's own metadata takes space, so the free space is measured again.
        for _ in 0..<6 {
            let surplus = freeBytes - bytes
            if abs(surplus) < 4_096 { break }
            if surplus > 0 {
                size += Self.extend(descriptor, from: size, by: surplus)
            } else {
                size = max(0, size + surplus)
                guard ftruncate(descriptor, off_t(size)) == 0 else {
                    throw HarnessError("ballast cannot be cut: \(systemMessage())")
                }
            }
        }
        guard fsync(descriptor) == 0 else { throw HarnessError("ballast is not written: \(systemMessage())") }
    }

    /// - Returns: the bytes by which the file could be extended.
    private static func extend(_ descriptor: Int32, from size: Int, by surplus: Int) -> Int {
        var (done, step) = (0, surplus)
        while step >= 4_096, done < surplus {
            if posix_fallocate(descriptor, off_t(size + done), off_t(min(step, surplus - done))) == 0 {
                done += min(step, surplus - done)
            } else {
                step /= 2
            }
        }
        return done
    }

    /// Frees the space. A second call does nothing.
    func makeRoom() throws {
        guard FileTree.exists(ballast) else { return }
        var status = stat()
        guard stat(ballast, &status) == 0 else { throw HarnessError("no ballast: \(systemMessage())") }
        let wanted = freeBytes + Int(status.st_blocks) * 512 / 2
        try FileTree.remove(ballast)
        // Some file systems free space only when a transaction of their own has ended.
        if kind == .btrfs { sync() }
        for _ in 0..<500 where freeBytes < wanted { usleep(10_000) }
        guard freeBytes >= wanted else { throw HarnessError("\(kind.rawValue) does not give back the room") }
    }
}
