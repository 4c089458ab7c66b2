import Platform
import Testing

/// Injected failures: exactly the chosen call fails.
@Suite(.enabled(if: PreloadedProgram.isPossible, "not under a sanitizer"))
struct FaultTests {
    @Test(
        "the chosen call fails, those before and after it do not, and it is counted",
        arguments: [
            ("write#1,EIO", "write:a:100 pwrite:a:100 pwritev:a:100", "pwrite"),
            ("write#0,ENOSPC", "pwritev2:a:100 write:a:100", "pwritev2"),
            ("sync#1,EIO", "write:a:9 fsync:a fdatasync:a fsync:a", "fdatasync"),
            ("sync#0,EIO", "write:a:9 syncfs:a fsync:a", "syncfs"),
            ("sync#0,EIO", "ftruncate:a:4096 msync:a:4096 fsync:a", "msync"),
            ("truncate#0,EIO", "write:a:9 ftruncate64:a:4 fsync:a", "ftruncate64"),
            ("allocate#0,EDQUOT", "write:a:9 fallocate:a:4096", "fallocate"),
            ("read#1,EIO", "write:a:9 pread:a:9 preadv:a:9 pread64:a:9", "preadv"),
            ("write+sync#2,EIO", "write:a:9 fsync:a pwrite:a:9 fdatasync:a", "pwrite"),
            ("change#2,EIO", "write:a:9 pread:a:9 fsync:a fdatasync:a", "fdatasync"),
        ])
    func fails(fault: String, words: String, call: String) throws {
        // Created before, so that creating the file is not among the calls.
        let program = try PreloadedProgram.probe(
            "open:a:rows fault:\(fault) \(words) faults:struck", in: TestDirectory())
        let failed = program.lines.filter { $0.value == -1 }.map(\.name)
        #expect(failed == [call] && program["struck"] == 1, "\(program.text)")
        #expect(program["fault"] == 0 && program.status == 0, "\(program.text)")
    }

    @Test("posix_fallocate returns the error")
    func allocation() throws {
        let program = try PreloadedProgram.probe(
            "open:a:rows fault:allocate#0,ENOSPC posix_fallocate:a:4096", in: TestDirectory())
        #expect(program["posix_fallocate"] == Int(ENOSPC), "\(program.text)")
    }

    @Test("a permanent failure persists, for its kinds only")
    func lasting() throws {
        let program = try PreloadedProgram.probe(
            "open:a:rows fault:write#1,EIO,for-good write:a:9 write:a:9 fsync:a pwrite:a:9 fault write:a:9 "
                + "faults:struck", in: TestDirectory())
        #expect(program.lines.map(\.value) == [0, 9, -1, 0, -1, 0, 9, 0], "\(program.text)")
    }

    @Test(
        "half of the bytes are written; a disk that is full takes no more, and one byte has no half",
        arguments: [
            ("short", "write:a:100 write:a:100", [50, 100, 1]),
            ("short", "pwritev:a:3000 writev:a:100", [1_024, 100, 1]),
            ("short", "pwrite:a:4098 writev:a:100", [2_048, 100, 1]),
            ("short,for-good", "write:a:100 write:a:100", [50, -1, 2]),
            ("short", "write:a:1 write:a:100", [1, 100, 0]),
        ])
    func half(effect: String, words: String, values: [Int]) throws {
        let directory = try TestDirectory()
        let program = try PreloadedProgram.probe(
            "open:a:rows fault:write#0,\(effect) \(words) faults:struck", in: directory)
        #expect(program.lines.dropFirst().map(\.value) == values, "\(program.text)")
    }

    @Test(
        "failing calls with a path change nothing",
        arguments: [
            ("rename#0,EIO", "rename:x"), ("rename#0,EIO", "renameat2:x"), ("link#0,EIO", "link:x"),
            ("unlink#0,EIO", "unlink:x"), ("unlink#0,EIO", "unlinkat:x"), ("truncate#0,EIO", "truncate:x"),
            ("open#0,EIO", "open:b:x"), ("create#0,EIO", "open:b:x2"), ("create#0,EIO", "creat:b:x2"),
            ("sync-directory#0,EIO", "open-directory:b:. fsync:b"),
        ])
    func paths(fault: String, words: String) throws {
        let directory = try TestDirectory()
        let program = try PreloadedProgram.probe("open:a:x write:a:7 fault:\(fault) \(words)", in: directory)
        let isStruck = program.text.contains(String(cString: strerror(EIO))) || program["fsync"] == -1
        #expect(isStruck, "\(program.text)")
        #expect(try PreloadedProgram.read(directory.path + "/x").utf8.count == 7)
        #expect(access(directory.path + "/x2", F_OK) != 0)
    }

    @Test("unwatched calls do not fail and are not counted")
    func outside() throws {
        let other = try TestDirectory()
        let program = try PreloadedProgram.probe(
            "open:a:\(other.path)/rows fault:write#0,EIO,for-good write:a:9 open:b:x write:b:9 faults:write",
            in: TestDirectory())
        #expect(program.lines.map(\.value) == [0, 9, -1, 1], "\(program.text)")
    }

    @Test(
        "an invalid fault is refused",
        arguments: ["write,EIO", "wrote#0,EIO", "write#x,EIO", "write#1,E", "write+#1,EIO", "write#1,EIO,ever"])
    func refused(fault: String) throws {
        let program = try PreloadedProgram.probe("fault:\(fault) open:a:x write:a:9", in: TestDirectory())
        #expect(program["fault"] == -1 && program["write"] == 9, "\(program.text)")
    }

    @Test("the witness observes an injected sync failure")
    func witnessed() throws {
        let program = try PreloadedProgram.probe(
            "open:a:x.log fault:sync#0,EIO begin write:a:9 fsync:a end begin write:a:9 fsync:a end",
            in: TestDirectory())
        #expect(program.commits == [3, 1], "\(program.text)")
    }

    @Test(
        "a kill comes before or after the call, in the executed program, and ends its parent too",
        arguments: [("kill-before", 2), ("kill-after", 4)])
    func death(effect: String, bytes: Int) throws {
        let directory = try TestDirectory()
        let state = directory.path + ".state"
        directory.remove(with: state)
        try PreloadedProgram.write(String(repeating: "\0", count: 4_096), to: state)
        // In its own process group, as programs are launched; the shell's next output would show that it lives.
        let script = "echo a >>x; sh -c 'echo b >>x; echo c >>x; echo d >>x'; echo e >>x"
        let words = [
            "/usr/bin/setsid", "-w", "/usr/bin/env", "LD_PRELOAD=" + (try PreloadedProgram.library()),
            "ASSAY_IO_ROOT=" + directory.path, "ASSAY_FAULT_STATE=" + state, "ASSAY_FAULT=write#1,\(effect)",
            "/bin/sh", "-c", script,
        ]
        let inside = "cd '\(directory.path)' && exec \"$@\""
        let status = try PreloadedProgram.spawn(["/bin/sh", "-c", inside, "sh"] + words, output: "/dev/null")
        #expect(status == 128 + SIGKILL || status == 1_000 + SIGKILL, "\(status)")
        #expect(try PreloadedProgram.read(directory.path + "/x").utf8.count == bytes)
        let counts = try PreloadedProgram.read(state)
        #expect(counts.hasPrefix("ASSAYFL1"))
    }
}
