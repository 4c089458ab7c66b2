import Platform
import Testing

/// Every wrapped call, made once or a few times, and the exact counts.
@Suite(.enabled(if: PreloadedProgram.isPossible, "not under a sanitizer"))
struct CountTests {
    @Test(
        "a write is counted with its bytes",
        arguments: [
            "write", "pwrite", "pwrite64", "writev", "pwritev", "pwritev64", "pwritev2", "pwritev64v2",
        ])
    func writes(call: String) throws {
        let program = try PreloadedProgram.probe("open:a:rows \(call):a:100 counts", in: TestDirectory())
        #expect(program.status == 0, "\(program.text)")
        #expect(program[call] == 100)
        #expect(program.counts == ["opens": 1, "write_calls": 1, "written_bytes": 100])
    }

    @Test(
        "a write that is durable on return is counted as such",
        arguments: [
            "open:a:rows pwritev2-dsync:a:100", "open:a:rows pwritev64v2-sync:a:100", "open-dsync:a:rows write:a:100",
            "open-sync:a:rows pwrite:a:100",
        ])
    func syncedWrites(words: String) throws {
        let program = try PreloadedProgram.probe(words + " counts", in: TestDirectory())
        #expect(
            program.counts == ["opens": 1, "write_calls": 1, "written_bytes": 100, "synced_write_calls": 1],
            "\(program.text)")
    }

    @Test(
        "a read is counted with its bytes",
        arguments: [
            "read", "read-checked", "pread", "pread-checked", "pread64", "pread64-checked", "readv", "preadv",
            "preadv64", "preadv2", "preadv64v2",
        ])
    func reads(call: String) throws {
        let program = try PreloadedProgram.probe(
            "open:a:rows pwrite:a:100 \(call):a:60 counts", in: TestDirectory())
        #expect(program[call] == 60, "\(program.text)")
        #expect(
            program.counts == [
                "opens": 1, "write_calls": 1, "written_bytes": 100, "read_calls": 1, "read_bytes": 60,
            ])
    }

    @Test(
        "a copy in the kernel is a read and a write",
        arguments: ["copy_file_range", "sendfile", "sendfile64"])
    func copies(call: String) throws {
        let program = try PreloadedProgram.probe(
            "open:a:rows open:b:other pwrite:b:100 \(call):a:b counts", in: TestDirectory())
        #expect(program[call] == 100, "\(program.text)")
        #expect(
            program.counts == [
                "opens": 2, "write_calls": 2, "written_bytes": 200, "read_calls": 1, "read_bytes": 100,
            ])
    }

    @Test(
        "syncs, space and maps are counted separately",
        arguments: [
            ("fsync:a fdatasync:a", ["sync_calls": 2]),
            ("sync_file_range:a", ["range_sync_calls": 1]),
            ("syncfs:a", ["file_system_syncs": 1]),
            ("open-directory:d:. fsync:d", ["directory_syncs": 1, "opens": 2]),
            ("msync:a:4096", ["shared_writable_maps": 1, "map_syncs": 1]),
            ("map-read-only:a:4096", [:]),
            ("ftruncate:a:10 ftruncate64:a:20 truncate:rows", ["truncations": 3]),
            ("fallocate:a:8192 fallocate64:a:8192 posix_fallocate:a:8192 posix_fallocate64:a:8192", ["allocations": 4]),
            ("syscall-pwrite:a:100 syscall-fdatasync:a", ["unseen_calls": 2]),
        ])
    func others(words: String, expected: [String: Int]) throws {
        let program = try PreloadedProgram.probe("open:a:rows \(words) counts", in: TestDirectory())
        #expect(program.status == 0, "\(program.text)")
        #expect(program.counts == expected.merging(["opens": 1]) { given, _ in given })
    }

    @Test(
        "created and removed names are counted",
        arguments: [
            ("rename:rows", "renames"), ("renameat:rows", "renames"), ("renameat2:rows", "renames"),
            ("link:rows", "links"), ("linkat:rows", "links"), ("unlink:rows", "unlinks"), ("unlinkat:rows", "unlinks"),
        ])
    func names(word: String, field: String) throws {
        let program = try PreloadedProgram.probe("open:a:rows \(word) counts", in: TestDirectory())
        #expect(program.status == 0, "\(program.text)")
        #expect(program.counts == ["opens": 1, field: 1])
    }

    /// A program that an engine's files are below is rarely in their directory itself.
    @Test("relative names that lead from above into the watched directory are counted, and others are not")
    func relativeNames() throws {
        let directory = try TestDirectory()
        #expect(mkdir(directory.path + "/below", 0o755) == 0 && mkdir(directory.path + "/belowe", 0o755) == 0)
        let root = "root:\(directory.path)/below "
        let inside = try PreloadedProgram.probe(
            root + "open:a:./below/rows write:a:10 rename:below/rows unlink:below/rows2 counts", in: directory)
        let expected = ["opens": 1, "write_calls": 1, "written_bytes": 10, "renames": 1, "unlinks": 1]
        #expect(inside.counts == expected, "\(inside.text)")
        let outside = try PreloadedProgram.probe(
            root + "open:a:belowe/rows unlink:belowe/rows open:b:below/../rows unlink:rows counts", in: directory)
        #expect(outside.status == 0 && outside.counts.isEmpty, "\(outside.text)")
    }

    @Test("a file is opened in every way", arguments: ["open", "open64", "openat", "openat64", "creat"])
    func opens(call: String) throws {
        let program = try PreloadedProgram.probe("\(call):a:rows write:a:1 counts", in: TestDirectory())
        #expect(program.counts == ["opens": 1, "write_calls": 1, "written_bytes": 1], "\(program.text)")
    }

    @Test("a descriptor that libc opened internally is known")
    func unseenOpen() throws {
        let program = try PreloadedProgram.probe("open-unseen:a:rows write:a:5 fsync:a counts", in: TestDirectory())
        #expect(program.counts == ["write_calls": 1, "written_bytes": 5, "sync_calls": 1], "\(program.text)")
    }

    // High numbers, which no descriptor inherited from another test has; fcntl takes the next free one.
    @Test(
        "a copy of a descriptor is the same file",
        arguments: [
            "dup:a:b", "dup2:a:20 number:b:20", "dup3:a:21 number:b:21", "dup-fcntl:a:800 number:b:800",
            "dup-fcntl64:a:801 number:b:801",
        ])
    func copiesOfDescriptors(words: String) throws {
        let program = try PreloadedProgram.probe(
            "open:a:x.log \(words) close:a begin write:b:10 end fdatasync:b begin write:b:10 fdatasync:b end counts",
            in: TestDirectory())
        #expect(program.commits == [3, 1], "\(program.text)")
        #expect(program["write_calls"] == 2)
    }

    @Test("a descriptor replaced by dup2 no longer refers to its old file")
    func replacedDescriptor() throws {
        let program = try PreloadedProgram.probe(
            "open:a:rows open:b:x.log write:a:10 number:c:20 dup2:a:20 write:c:10 dup2:b:20 write:c:10 counts",
            in: TestDirectory())
        #expect(program["log_write_calls"] == 1, "\(program.text)")
        #expect(program["write_calls"] == 3)
    }

    @Test(
        "a pipe that reuses a closed file's number is not counted",
        arguments: [
            "open:z:/dev/null open:a:rows write:a:10 close:z close:a pipe:a",
            "open:z:/dev/null open-unseen:a:rows write:a:10 close:z close-unseen pipe:a",
        ])
    func reusedNumber(words: String) throws {
        let program = try PreloadedProgram.probe(words + " write:a:10 counts", in: TestDirectory())
        #expect(program["write_calls"] == 1, "\(program.text)")
    }

    @Test("flags that are set later make no write durable")
    func flagsSetLater() throws {
        let program = try PreloadedProgram.probe("open:a:rows set-flags:a write:a:10 counts", in: TestDirectory())
        #expect(program["synced_write_calls"] == nil, "\(program.text)")
        #expect(program["write_calls"] == 1)
    }

    @Test("calls outside the watched directories are not counted")
    func outside() throws {
        let directory = try TestDirectory()
        let other = try TestDirectory()
        let program = try PreloadedProgram.probe(
            "open:a:\(other.path)/rows write:a:10 fsync:a rename:\(other.path)/rows counts", in: directory)
        #expect(program.status == 0)
        #expect(program.counts == [:], "\(program.text)")
        // A directory that only shares a prefix with a watched one is another.
        let beside = try PreloadedProgram.probe(
            "root:\(directory.path)/a open:a:ab write:a:10 counts", in: directory)
        #expect(beside.counts == [:], "\(beside.text)")
    }

    @Test("another directory can be watched while the program runs")
    func rootIsSet() throws {
        let directory = try TestDirectory()
        let program = try PreloadedProgram.probe(
            "open:a:rows write:a:10 root: write:a:10 root:\(directory.path) logs:rows write:a:10 counts", in: directory)
        #expect(program["write_calls"] == 2, "\(program.text)")
        #expect(program["log_write_calls"] == 1)
    }

    @Test("threads count together, and no call is lost")
    func threads() throws {
        let program = try PreloadedProgram.probe("open:a:x.log threads:a:8 counts", in: TestDirectory())
        #expect(
            program.counts == [
                "opens": 1, "write_calls": 160_000, "written_bytes": 640_000, "log_write_calls": 160_000,
                "log_written_bytes": 640_000,
            ], "\(program.text)")
    }

    @Test("a forked child counts with its parent")
    func forked() throws {
        let program = try PreloadedProgram.probe(
            "open:a:rows write:a:10 fork write:a:7 fsync:a joined write:a:1 counts", in: TestDirectory())
        #expect(
            program.counts == ["opens": 1, "write_calls": 3, "written_bytes": 18, "sync_calls": 1], "\(program.text)")
    }

    @Test("an executed program counts for itself, inherited descriptors included")
    func executed() throws {
        let folder = try #require(PreloadedProgram.folder)
        let program = try PreloadedProgram.probe(
            "open:a:rows write:a:10 dup2:a:20 execute:\(folder)/PreloadProbe\tnumber:b:20\twrite:b:5\tcounts counts",
            in: TestDirectory())
        let printed = program.lines.filter { $0.name == "written_bytes" }.map(\.value)
        #expect(printed == [5, 10], "\(program.text)")
    }

    @Test("an earlier preloaded library stays first, and both see the call")
    func secondLibrary() throws {
        let directory = try TestDirectory()
        let failing = try PlantedLibrary.failing("fsync", first: 2, count: 1, in: directory)
        let program = try PreloadedProgram.probe(
            "open:a:rows fsync:a fsync:a fsync:a counts", in: directory, before: [failing.path])
        // The other library refused the second call before it reached ours.
        #expect(program.lines.filter { $0.name == "fsync" }.map(\.value) == [0, -1, 0], "\(program.text)")
        #expect(program.counts == ["opens": 1, "sync_calls": 2])
    }
}
