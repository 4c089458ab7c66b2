import Files
import Platform

/// A thread of another process that waits in a call, read from procfs. Values are nil if it has ended, or access is
/// denied.
struct ObservedProcess {
    let thread: UInt32
    private var directory: String { "/proc/\(thread)" }

    /// The thread's process.
    var process: UInt32 { status("Tgid:").flatMap { $0.first } ?? thread }

    /// The effective user, and the group.
    var user: UInt32? { status("Uid:").flatMap { $0.dropFirst().first } }
    var group: UInt32? { status("Gid:").flatMap { $0.dropFirst().first } }

    private func status(_ name: String) -> [UInt32]? {
        guard let text = try? FileTree.readText(directory + "/status") else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.dropFirst(name.count).split(whereSeparator: \.isWhitespace).compactMap { UInt32($0) }
    }

    /// Fewer bytes if the memory ends before.
    func memory(at address: UInt64, count: Int) -> [UInt8]? {
        let descriptor = open(directory + "/mem", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: count)
        let found = pread(descriptor, &bytes, count, off_t(truncatingIfNeeded: address))
        return found > 0 ? Array(bytes[..<found]) : nil
    }

    /// A string that ends in a zero byte.
    func text(at address: UInt64) -> BytePath? {
        guard let bytes = memory(at: address, count: Int(PATH_MAX)), let end = bytes.firstIndex(of: 0) else {
            return nil
        }
        return BytePath(Array(bytes[..<end]))
    }

    func word(at address: UInt64) -> UInt64? {
        guard let bytes = memory(at: address, count: 8), bytes.count == 8 else { return nil }
        return (0..<8).reduce(0) { $0 | UInt64(bytes[$1]) << UInt64(8 * $1) }
    }

    /// The path of one of its descriptors, in the kernel's form.
    func path(of descriptor: Int32) -> BytePath? {
        guard let path = Self.link("\(directory)/fd/\(descriptor)") else { return nil }
        let removed = Array(" (deleted)".utf8)
        guard path.bytes.suffix(removed.count) == removed[...] else { return path }
        return BytePath(Array(path.bytes.dropLast(removed.count)))
    }

    /// The file system of one of its descriptors.
    func device(of descriptor: Int32) -> UInt64? {
        var status = stat()
        guard stat("\(directory)/fd/\(descriptor)", &status) == 0 else { return nil }
        return UInt64(truncatingIfNeeded: status.st_dev)
    }

    /// The file whose shared map contains an address.
    func mapped(at address: UInt64) -> BytePath? {
        guard let maps = try? FileTree.readBytes(directory + "/maps") else { return nil }
        for line in maps.split(separator: UInt8(ascii: "\n")) {
            // Range, permissions, offset, device, inode, path.
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5, omittingEmptySubsequences: true)
            guard words.count == 6, words[1].dropFirst(3).first == UInt8(ascii: "s") else { continue }
            let range = words[0].split(separator: UInt8(ascii: "-")).compactMap { piece in
                UInt64(String(decoding: piece, as: UTF8.self), radix: 16)
            }
            guard range.count == 2, range[0] <= address, address < range[1] else { continue }
            return BytePath(Array(words[5].drop { $0 == UInt8(ascii: " ") }))
        }
        return nil
    }

    private static func link(_ path: String) -> BytePath? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? BytePath(buffer.prefix(count).map { UInt8(bitPattern: $0) }) : nil
    }

    // MARK: What it executes

    /// The path in a form that this process can open.
    ///
    /// - Parameter directory: the descriptor that a relative path begins at.
    func reachable(_ path: BytePath, from directory: Int32?) -> BytePath {
        let own = self.directory
        if path.bytes.isEmpty, let directory { return BytePath("\(own)/fd/\(directory)") }
        guard path.bytes.first == UInt8(ascii: "/") else {
            return BytePath(directory.map { "\(own)/fd/\($0)" } ?? own + "/cwd").appending(path)
        }
        // Paths that refer to the calling process would refer to this one.
        let ofItself = [("/proc/self/", own + "/"), ("/proc/thread-self/", own + "/"), ("/dev/fd/", own + "/fd/")]
        for (prefix, place) in ofItself where path.bytes.starts(with: prefix.utf8) {
            return BytePath(Array(place.utf8) + path.bytes.dropFirst(prefix.utf8.count))
        }
        return BytePath(Array((own + "/root").utf8) + path.bytes)
    }

    /// The program that a call is about to execute; nil if there is none, so that the call fails.
    func program(_ path: BytePath, from directory: Int32?, depth: Int = 0) -> PastCalls.Program? {
        let place = reachable(path, from: directory)
        var status = stat()
        let error = place.with { stat($0, &status) == 0 ? 0 : errno }
        var program = PastCalls.Program(name: path.bytes.isEmpty ? "a program" : path.text)
        if error == ENOENT || error == ENOTDIR { return nil }
        // An inaccessible file counts as a program.
        if error != 0 { return program }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o111 != 0 else { return nil }
        // Without execute permission for the group, S_ISGID has another meaning.
        let group = status.st_mode & (S_ISGID | S_IXGRP) == S_ISGID | S_IXGRP
        program.gainsRights =
            status.st_mode & S_ISUID != 0 && status.st_uid != user ?? status.st_uid
            || group && status.st_gid != self.group ?? status.st_gid
        guard let head = Self.head(of: place) else { return program }
        if head.starts(with: "#!".utf8) {
            let line = head.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
            let name = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.first
            guard let name, depth < 4 else { return nil }
            return self.program(BytePath(Array(name)), from: nil, depth: depth + 1)
        }
        guard head.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else { return nil }
        program.isStatic = !ProgramHeader.hasInterpreter(head)
        return program
    }

    private static func head(of path: BytePath) -> [UInt8]? {
        let descriptor = path.with { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}

/// The header of an executable file (ELF).
private enum ProgramHeader {
    /// Whether a loader loads it, and the preloaded library with it. True if unknown.
    static func hasInterpreter(_ head: [UInt8]) -> Bool {
        // 64 bits and little-endian, as on all supported machines.
        guard head.count >= 64, head[4] == 2, head[5] == 1 else { return true }
        func number(_ place: Int, _ size: Int) -> Int {
            guard place >= 0, place + size <= head.count else { return 0 }
            return (0..<size).reduce(0) { $0 | Int(head[place + $1]) << (8 * $1) }
        }
        let (start, size, count) = (number(32, 4), number(54, 2), number(56, 2))
        guard start > 0, size >= 56, start + size * count <= head.count else { return true }
        let interpreter = 3
        return (0..<count).contains { number(start + $0 * size, 4) == interpreter }
    }
}
