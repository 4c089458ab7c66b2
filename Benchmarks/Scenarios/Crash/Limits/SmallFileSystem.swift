import Harness
import RunRecords

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A small file system that is mounted for this process and its children alone, and can be filled.
///
/// Made after `ProcessRights.takeOwnMounts`: whatever ends these processes, the mount is gone with them, and with the
/// mount the loop device.
struct SmallFileSystem {
    enum Kind: String, CaseIterable {
        case tmpfs, ext4, xfs, btrfs

        /// The smallest that its tools make, or what most histories fit in.
        fileprivate var leastMebibytes: Int {
            switch self {
            case .tmpfs, .ext4: 48
            case .xfs: 320
            case .btrfs: 160
            }
        }

        /// What makes one in a file, and is told the file last.
        fileprivate var maker: [String]? {
            switch self {
            case .tmpfs: nil
            case .ext4: ["mkfs.ext4", "-q", "-F", "-m", "0"]
            case .xfs: ["mkfs.xfs", "-q", "-f"]
            case .btrfs: ["mkfs.btrfs", "-q", "-f", "-m", "single"]
            }
        }

        /// Why this machine has none for us; nil where it seems to.
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
    /// Where it is mounted.
    let directory: String
    private var image: String { directory + ".image" }
    private var ballast: String { directory + "/ballast" }

    /// Makes and mounts it.
    ///
    /// `bytes`: what has to fit while it is not filled.
    init(_ kind: Kind, at directory: String, holding bytes: Int = 0) throws {
        // As much again for what is written beside, and for the file system itself.
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

    /// A program of the system, without what this process was started with.
    private static func run(_ words: [String], log: String) throws {
        guard let path = path(of: words[0]) else { throw HarnessError("\(words[0]) is not installed") }
        var program = ChildProgram([path] + words.dropFirst(), outputFile: log)
        program.environment = ["PATH=\(directories.joined(separator: ":"))", "LC_ALL=C"]
        guard try program.run() == .exited(0) else {
            let text = try FileTree.readText(log).split(separator: "\n").last.map(String.init) ?? ""
            throw HarnessError("`\(words.joined(separator: " "))` failed: \(text)")
        }
    }

    /// Takes it away, though somebody may still have files of it open.
    func unmount() {
        #if canImport(Glibc)
            let detach: Int32 = 2
            _ = umount2(directory, detach)
        #endif
        do { try FileTree.remove(image) } catch {}
    }

    var freeBytes: Int { HarnessFault.freeBytes(directory).map { Int(clamping: $0) } ?? 0 }

    // MARK: Filling

    /// Takes all room but so many bytes, as nearly as the file system can.
    func fill(leaving bytes: Int) throws {
        let descriptor = open(ballast, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw HarnessError("no ballast: \(systemMessage())") }
        defer { close(descriptor) }
        var size = 0
        // Room for the file's own places is taken with it, so that what is left is looked at anew.
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

    /// - Returns: by how much it could be made longer.
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

    /// Gives the room back. Called again it does nothing.
    func makeRoom() throws {
        guard FileTree.exists(ballast) else { return }
        var status = stat()
        guard stat(ballast, &status) == 0 else { throw HarnessError("no ballast: \(systemMessage())") }
        let wanted = freeBytes + Int(status.st_blocks) * 512 / 2
        try FileTree.remove(ballast)
        // Some give room back when a transaction of their own is over.
        if kind == .btrfs { sync() }
        for _ in 0..<500 where freeBytes < wanted { usleep(10_000) }
        guard freeBytes >= wanted else { throw HarnessError("\(kind.rawValue) does not give back the room") }
    }
}
