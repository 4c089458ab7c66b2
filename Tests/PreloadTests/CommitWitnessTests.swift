import Testing

/// The commit witness: writes to logs, and their syncs. 0 nothing written, 1 synced, 2 grouped, 3 unsynced.
@Suite(.enabled(if: PreloadedProgram.isPossible, "not under a sanitizer"))
struct CommitWitnessTests {
    @Test(
        "one thread's commits are judged by the order of writes and syncs",
        arguments: [
            ("begin write:a:10 fdatasync:a end", [1]),
            ("begin write:a:10 fsync:a end", [1]),
            ("begin write:a:10 syncfs:a end", [1]),
            ("begin write:a:10 end", [3]),
            ("begin fdatasync:a write:a:10 end", [3]),
            ("begin write:a:10 sync_file_range:a end", [3]),
            ("begin end", [0]),
            ("begin fdatasync:a end", [0]),
            // Only the first of two writes is synced.
            ("begin write:a:10 fdatasync:a write:a:10 end", [3]),
            // The next sync also covers an earlier operation's write.
            ("begin write:a:10 end begin write:a:10 fdatasync:a end", [3, 1]),
            // A sync of earlier writes, without an own write.
            ("write:a:10 begin fdatasync:a end", [0]),
            // Other files are judged only if no log was written.
            ("open:c:rows begin write:c:10 fdatasync:c end", [1]),
            ("open:c:rows begin write:c:10 end", [3]),
            ("open:c:rows begin fdatasync:c write:c:10 end", [3]),
            ("open:c:rows begin write:a:10 write:c:10 fdatasync:c end", [3]),
            // The log was removed, and never synced.
            ("begin write:a:10 close:a unlink:x.log end", [3]),
        ])
    func sequences(words: String, answers: [Int]) throws {
        let program = try PreloadedProgram.probe("open:a:x.log " + words, in: TestDirectory())
        #expect(program.status == 0, "\(program.text)")
        #expect(program.commits == answers)
    }

    @Test(
        "a synced write covers itself and no other",
        arguments: [
            ("open-dsync:b:x.log begin write:b:10 end", [1]),
            ("open-sync:b:x.log begin pwrite:b:10 end", [1]),
            ("open:b:x.log begin pwritev2-dsync:b:10 end", [1]),
            ("open:b:x.log begin pwritev2:b:10 end", [3]),
            // LMDB: pages, a sync, the meta page by a descriptor of its own.
            ("open-dsync:b:x.log begin pwritev:a:100 fdatasync:a pwrite:b:10 end", [1]),
            // The same without the sync: the meta page is durable, the pages are not.
            ("open-dsync:b:x.log begin pwritev:a:100 pwrite:b:10 end", [3]),
            ("open:b:x.log begin pwritev:a:100 fdatasync:a pwrite:b:10 end", [3]),
        ])
    func syncedWrites(words: String, answers: [Int]) throws {
        let program = try PreloadedProgram.probe("open:a:x.log " + words, in: TestDirectory())
        #expect(program.commits == answers, "\(program.text)")
    }

    @Test(
        "of several logs each has to be synced",
        arguments: [
            ("begin write:a:10 write:b:10 fdatasync:a fdatasync:b end", [1]),
            ("begin write:a:10 write:b:10 fdatasync:a end", [3]),
            ("begin write:a:10 write:b:10 fdatasync:b end", [3]),
            // The other log's unsynced write is older.
            ("write:b:10 begin write:a:10 fdatasync:a end", [1]),
        ])
    func severalLogs(words: String, answers: [Int]) throws {
        let program = try PreloadedProgram.probe("open:a:x.log open:b:y.log " + words, in: TestDirectory())
        #expect(program.commits == answers, "\(program.text)")
    }

    @Test(
        "more logs than a thread tracks are judged together",
        arguments: [
            ("", 3),
            (
                "fdatasync:a fdatasync:b fdatasync:c fdatasync:d fdatasync:e fdatasync:f fdatasync:g "
                    + "fdatasync:h fdatasync:i fdatasync:j ", 1
            ), ("fdatasync:j ", 3),
        ])
    func manyLogs(syncs: String, answer: Int) throws {
        let letters = "abcdefghij"
        let opens = letters.map { "open:\($0):\($0).log " }.joined()
        let writes = letters.map { "write:\($0):1 " }.joined()
        let program = try PreloadedProgram.probe(opens + "begin " + writes + syncs + "end", in: TestDirectory())
        #expect(program.commits == [answer], "\(program.text)")
    }

    @Test("a log that reuses a removed one's inode is judged by itself")
    func reusedInode() throws {
        let program = try PreloadedProgram.probe(
            "open:a:x.log write:a:10 close:a unlink:x.log open:a:x.log begin write:a:10 fdatasync:a end "
                + "close:a unlink:x.log open:a:x.log begin write:a:10 end", in: TestDirectory())
        #expect(program.commits == [1, 3], "\(program.text)")
    }

    @Test("a failed sync covers nothing, and neither does the next one")
    func failingSync() throws {
        // Planted behind our library, which therefore observes the failure.
        let directory = try TestDirectory()
        let failing = try PlantedLibrary.failing("fdatasync", first: 1, count: 1, in: directory)
        let program = try PreloadedProgram.probe(
            "open:a:x.log begin write:a:10 fdatasync:a end begin write:a:10 fdatasync:a end counts", in: directory,
            after: [failing.path])
        #expect(program.commits == [3, 1], "\(program.text)")
        #expect(program["sync_calls"] == 2)
        #expect(program["failed_sync_calls"] == 1)

        let again = try PreloadedProgram.probe(
            "open:a:x.log begin write:a:10 fdatasync:a fdatasync:a end", in: directory, after: [failing.path])
        #expect(again.commits == [3], "the kernel has dropped what it could not write: \(again.text)")

        // A later write and sync by another process does not make up for the lost write.
        let other = try PreloadedProgram.probe(
            "open:a:x.log begin write:a:10 fdatasync:a fork write:a:10 fdatasync:a joined end", in: directory,
            after: [failing.path])
        #expect(other.commits == [3], "\(other.text)")

        let rewritten = try PreloadedProgram.probe(
            "open:a:x.log begin write:a:10 fdatasync:a write:a:10 fdatasync:a end", in: directory,
            after: [failing.path])
        #expect(rewritten.commits == [2], "\(rewritten.text)")
    }

    /// Two trials once ran at a time. In one a log could not be created and was removed; the commit became durable
    /// through the data file. The other's data file reused the log's inode, and the removed log's writes counted as
    /// unsynced writes to data: a correct engine was blamed.
    @Test(
        "a write to a log stays one, even if another file reuses the inode",
        arguments: [
            ("write:a:10 write:c:10 fdatasync:c", 1), ("write:a:10 write:c:10", 3),
            ("write:a:10 fdatasync:a write:c:10", 1), ("write:a:10", 3),
        ])
    func logOfAnotherRole(words: String, answer: Int) throws {
        let program = try PreloadedProgram.probe(
            "open:c:rows open:a:x.log begin \(words) link:x.log open:d:x.log2 pread:d:1 end own", in: TestDirectory())
        #expect(program["own"] == answer, "\(program.text)")
    }

    @Test("a write during a sync is not covered by it")
    func writeDuringSync() throws {
        // Planted behind our library: the write comes after the sync has begun.
        let directory = try TestDirectory()
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <unistd.h>
            int fdatasync(int fd) {
                int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
                return write(fd, "late", 4) == 4 ? next(fd) : -1;
            }
            """
        let planted = try PlantedLibrary(named: "late", source, in: directory)
        let program = try PreloadedProgram.probe(
            "open:a:x.log begin write:a:10 fdatasync:a end counts", in: directory, after: [planted.path])
        #expect(program["write_calls"] == 2, "\(program.text)")
        #expect(program.commits == [3])
    }

    @Test("a sync that another library swallows does not count")
    func swallowedSync() throws {
        let directory = try TestDirectory()
        let planted = try PlantedLibrary(named: "swallowing", "int fdatasync(int fd) { return 0; }", in: directory)
        let program = try PreloadedProgram.probe(
            "open:a:x.log begin write:a:10 fdatasync:a end", in: directory, before: [planted.path])
        #expect(program["fdatasync"] == 0)
        #expect(program.commits == [3], "\(program.text)")
    }

    @Test(
        "the leader's sync covers all threads of a group commit",
        arguments: [
            // The next group has begun to write before these ask, or not.
            ("plain", 1, 1), ("later", 2, 2),
            // Neither thread synced.
            ("lie", 3, 3),
            // The follower wrote for itself, after the leader's sync.
            ("alone", 2, 3),
        ])
    func groups(name: String, leader: Int, follower: Int) throws {
        let program = try PreloadedProgram.probe("group:\(name)", in: TestDirectory())
        #expect(program.status == 0)
        #expect(program["leader"] == leader, "\(program.text)")
        #expect(program["follower"] == follower)
    }

    @Test(
        "a child's sync covers its parent's writes, and a child's write needs a sync",
        arguments: [
            ("begin write:a:10 fork fdatasync:a joined end", [1]),
            ("begin write:a:10 fork fdatasync:b joined end", [3]),
            ("begin fork write:a:10 joined end", [3]), ("begin fork write:a:10 joined fdatasync:a end", [1]),
        ])
    func forked(words: String, answers: [Int]) throws {
        let program = try PreloadedProgram.probe("open:a:x.log open:b:y.log " + words, in: TestDirectory())
        #expect(program.commits == answers, "\(program.text)")
    }
}
