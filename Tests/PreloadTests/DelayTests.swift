import Testing

/// A slow disk: the delayed calls, and their real durations.
@Suite(.enabled(if: PreloadedProgram.isPossible, "not under a sanitizer"))
struct DelayTests {
    @Test(
        "calls that wait for the device take the requested delay, and are counted",
        arguments: [
            ("open:a:rows write:a:100", "fsync:a"), ("open:a:rows write:a:100", "fdatasync:a"),
            ("open:a:rows write:a:100", "syncfs:a"), ("open:a:rows ftruncate:a:4096", "msync:a:4096"),
            ("open:a:rows", "pwritev2-dsync:a:100"), ("open-dsync:a:rows", "write:a:100"),
            ("open-directory:a:.", "fsync:a"),
        ])
    func syncs(before: String, call: String) throws {
        let program = try PreloadedProgram.probe(
            "\(before) delays:40,0 elapsed \(call) \(call) elapsed delays:0,0 \(call) counts", in: TestDirectory())
        #expect(program.status == 0 && program["delayed_syncs"] == 2, "\(program.text)")
        #expect((program["elapsed"] ?? 0) >= 80, "\(program.text)")
        #expect(program["delayed_writes"] == nil)
    }

    @Test("a buffered write has its own delay")
    func writes() throws {
        let program = try PreloadedProgram.probe(
            "open:a:rows delays:0,30 elapsed write:a:100 pwrite:a:100 fsync:a elapsed counts", in: TestDirectory())
        #expect(program["delayed_writes"] == 2 && program["delayed_syncs"] == nil, "\(program.text)")
        #expect((program["elapsed"] ?? 0) >= 60, "\(program.text)")
    }

    @Test("unwatched calls, and calls that only start write-back, are not delayed")
    func undelayed() throws {
        let directory = try TestDirectory()
        let other = try TestDirectory()
        let program = try PreloadedProgram.probe(
            "open:a:\(other.path)/rows open:b:rows delays:40,40 write:a:10 fsync:a sync_file_range:b read:b:10 counts",
            in: directory)
        #expect(program.status == 0 && program["range_sync_calls"] == 1, "\(program.text)")
        #expect(program["delayed_syncs"] == nil && program["delayed_writes"] == nil, "\(program.text)")
    }

    @Test("a forked child is as slow as its parent")
    func forked() throws {
        let program = try PreloadedProgram.probe(
            "open:a:rows delays:40,0 fork write:a:7 fsync:a joined counts", in: TestDirectory())
        #expect(program["delayed_syncs"] == 1, "\(program.text)")
    }

    @Test("a delayed sync still covers earlier writes")
    func witnessed() throws {
        let program = try PreloadedProgram.probe(
            "open:a:x.log delays:5,5 begin write:a:10 fdatasync:a end begin write:a:10 end", in: TestDirectory())
        #expect(program.commits == [1, 3], "\(program.text)")
    }
}
