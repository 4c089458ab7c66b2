import Platform

/// Tells what was wrong with the machine from what an engine did wrong.
///
/// It is called only after a case or a trial ended badly, while the files are still there. It returns a sentence about
/// the fault of the machine, with its remedy; the case then says nothing about the engine. The case's own memory limit
/// is not a fault.
package enum HarnessFault {
    /// With less free space than this a database cannot work.
    static let reserveBytes: UInt64 = 2 << 20
    /// An engine's message that the disk is full is believed while less than this is free: the engine may have given
    /// back some space since then.
    static let doubtBytes: UInt64 = 512 << 20
    /// If this many open files or more are allowed, an engine that reaches the limit leaks descriptors, and is at fault
    /// itself.
    static let honestFileCount: UInt64 = 4_096

    /// The fault behind a signal that no engine sends: it came from outside the process.
    static func reason(signal: Int32) -> String? {
        switch signal {
        case SIGKILL:
            "the process was killed from outside (signal 9), as the kernel does when memory runs out: "
                + "`dmesg` tells; give the machine more memory, or run less beside it"
        case SIGXFSZ: "a file reached the inherited limit of file sizes: `ulimit -f unlimited`, then run it again"
        case SIGXCPU: "the process reached the inherited limit of processor time: `ulimit -t unlimited`"
        default: nil
        }
    }

    /// Checks the file system; with `probing` it also writes a file there, as the engine would.
    package static func reason(in directory: String, probing: Bool = true) -> String? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else {
            return errno == ENOENT
                ? "\(directory) is gone: something else removed it" : reason(code: errno, directory: directory)
        }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        if free < reserveBytes { return full(directory, "\(free >> 10) KiB") }
        if status.f_files > 0 && status.f_favail == 0 { return full(directory, "no inode") }
        return probing ? probe(directory) : nil
    }

    private static func probe(_ directory: String) -> String? {
        let path = "\(directory)/probe-\(getpid())"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return reason(code: errno, directory: directory) }
        defer {
            close(descriptor)
            unlink(path)
        }
        let page = [UInt8](repeating: 1, count: 64 << 10)
        let count = write(descriptor, page)
        guard count == page.count else { return reason(code: count < 0 ? errno : ENOSPC, directory: directory) }
        return nil
    }

    private static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
        Platform.write(descriptor, bytes, bytes.count)
    }

    private static func full(_ directory: String, _ free: String) -> String {
        "the disk under \(directory) is full (\(free) free): make room, or name another place with --out"
    }

    /// The fault that an error code of the harness's own call shows; nil if it shows none.
    package static func reason(code: Int32, directory: String) -> String? {
        switch code {
        case ENOSPC: full(directory, "nothing")
        case EDQUOT: "the disk quota under \(directory) is used up: make room, or name another place with --out"
        case EACCES, EPERM: "\(directory) may not be written to: give the right, or name another place with --out"
        case EROFS: "\(directory) is on a file system that is read-only: name another place with --out"
        case EMFILE, ENFILE: "too many files are open: `ulimit -n` is \(InheritedLimits.soft(.files)), raise it"
        case EFBIG: "a file reached the inherited limit of file sizes: `ulimit -f unlimited`"
        case EIO: "the disk under \(directory) fails (input/output error): `dmesg` tells"
        default: nil
        }
    }

    /// The fault that an engine's messages name, if a check of the machine confirms it.
    static func reason(texts: [String], directory: String) -> String? {
        func says(_ words: [String]) -> Bool {
            texts.contains { text in words.contains { text.contains($0) } }
        }
        if says(["No space left on device", "database or disk is full"]), let free = freeBytes(directory),
            free < doubtBytes
        {
            return full(directory, "\(free >> 20) MiB")
        }
        if says(["Disk quota exceeded"]) { return reason(code: EDQUOT, directory: directory) }
        if says(["Too many open files"]), InheritedLimits.soft(.files) < honestFileCount {
            return reason(code: EMFILE, directory: directory)
        }
        if says(["File too large"]), InheritedLimits.soft(.fileSize) != .max {
            return reason(code: EFBIG, directory: directory)
        }
        let isBounded = InheritedLimits.soft(.addressSpace) != .max || InheritedLimits.soft(.data) != .max
        if isBounded, says(["Cannot allocate memory", "out of memory"]) {
            return "memory is bounded from outside (`ulimit -v`, `ulimit -d`): set both to unlimited"
        }
        return nil
    }

    package static func freeBytes(_ directory: String) -> UInt64? {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}
