import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// A small file system, mounted for a test and unmounted with the object.
final class MountedDisk {
    enum Kind: String, CaseIterable, Sendable { case tmpfs, ext2, ext4, xfs, btrfs }

    let path: String
    /// The size of the disk, larger than requested if the file system has a minimum.
    let megabytes: Int
    private let directory: TemporaryDirectory
    private let image: String

    /// nil, with the reason on standard output, if it cannot be mounted.
    init?(_ kind: Kind, megabytes: Int) throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/disk"
        // The minimum sizes of these file systems.
        self.megabytes = max(megabytes, kind == .xfs ? 320 : kind == .btrfs ? 128 : 0)
        image = directory.path + "/image"
        mkdir(path, 0o755)
        guard geteuid() == 0 else {
            Self.skip(kind, "only root may mount")
            return nil
        }
        if kind == .tmpfs {
            let command = ["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path]
            if Self.run(command) != 0 {
                Self.skip(kind, "it cannot be mounted")
                return nil
            }
            return
        }
        let file = try POSIXFileSystem().open(image, .createNew)
        try file.truncate(to: Int64(self.megabytes) << 20)
        file.close()
        let quiet = kind == .xfs || kind == .btrfs ? "-f" : "-F"
        guard Self.run(["mkfs.\(kind.rawValue)", "-q", quiet, image]) == 0 else {
            Self.skip(kind, "mkfs.\(kind.rawValue) is missing or fails")
            return nil
        }
        guard Self.run(["mount", "-o", "loop", image, path]) == 0 else {
            Self.skip(kind, "a loop device cannot be mounted")
            return nil
        }
    }

    private static func skip(_ kind: Kind, _ reason: String) {
        print("\(kind) was not tried: \(reason)")
    }

    deinit {
        _ = Self.run(["umount", "-l", path])
        rmdir(path)
    }

    /// Runs a program quietly. Its exit status, or -1.
    static func run(_ words: [String]) -> Int32 {
        var process: pid_t = 0
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in [1, 2] as [Int32] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard posix_spawnp(&process, words[0], &actions, nil, &arguments, environ) == 0 else { return -1 }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -1
    }
}
