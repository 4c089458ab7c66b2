import FaultModel
import Files
import Harness
import Testing

@testable import ProgramTrials

/// A program's trace, and the findings of reading it.
@Suite(.enabled(if: PreloadFolder.records, "no program can be recorded here"))
struct RecorderTests {
    /// A run with all inputs of its judgement.
    private struct Kept {
        var run: TracedRun
        var trace: [UInt8]
        var before: DirectorySnapshot
        var after: DirectorySnapshot
        var root: String

        /// Judges another trace of the same files. `count`: the number of records that were made.
        func judged(_ trace: [UInt8], count: Int? = nil) -> TracedRun {
            Recorder.run(run.words, before, trace: trace, count: count, after: after, end: run.end, root: root)
        }

        /// The records, each with its bytes.
        var pieces: [(record: TraceRecord, bytes: [UInt8])] {
            get throws {
                var place = 0
                return try TraceFile.read(trace).map { record in
                    let size = Int(trace[place + 4]) | Int(trace[place + 5]) << 8 | Int(trace[place + 6]) << 16
                    defer { place += size }
                    return (record, Array(trace[place..<(place + size)]))
                }
            }
        }

        /// The trace without one record, its numbers in order.
        func leavingOut(_ left: Int) throws -> [UInt8] {
            var number = 0
            return try pieces.enumerated().flatMap { index, piece -> [UInt8] in
                if index == left { return [] }
                var bytes = piece.bytes
                for byte in 0..<8 { bytes[8 + byte] = UInt8(number >> (8 * byte) & 0xFF) }
                number += 1
                return bytes
            }
        }
    }

    private func record(_ words: [String], _ output: WatchedProgram.Output = .pipe) throws -> Kept {
        let scratch = try TrialDirectory()
        let directory = scratch.path + "/data"
        try FileTree.createDirectory(directory)
        try FileTree.writeText(directory + "/old", "what was there\n")
        try FileTree.writeText(directory + "/some-lock", "not looked at")
        let volatile = try VolatileNames(adding: [])
        let before = try DirectorySnapshot(of: directory, without: volatile)
        let library = try #require(PreloadFolder.library)
        var program = WatchedProgram(words, library: library)
        program.directory = directory
        program.output = output
        let run = try Recorder(program, directory: directory, volatile: volatile, in: scratch.path).run()
        return Kept(
            run: run, trace: try FileTree.readBytes(scratch.path + "/trace"), before: before,
            after: try DirectorySnapshot(of: directory, without: volatile), root: directory)
    }

    private static let script =
        "printf 'one two' >a; mv a b; echo more >>b; mkdir c; echo x >c/y; ln b d; rm old; echo said; cp c/y c/z"

    @Test("a trace leads from the old files to the new ones, and every missing record is detected")
    func complete() throws {
        let kept = try record(["/bin/sh", "-c", Self.script])
        #expect(kept.run.unseen == [] && kept.run.end.hasSucceeded)
        #expect(kept.run.acknowledged(at: .max) == Array("said\n".utf8))
        #expect(kept.run.directories(at: kept.run.operations.count) == ["c"])
        #expect(kept.after.image["b"]?.bytes == Array("one twomore\n".utf8))
        var leftOut: Set<UInt16> = []
        for (index, piece) in try kept.pieces.enumerated() {
            switch piece.record.kind {
            case .create, .write, .rename, .link, .unlink, .output:
                #expect(!kept.judged(try kept.leavingOut(index)).unseen.isEmpty, "\(piece.record)")
                leftOut.insert(piece.record.kind.rawValue)
            default: break
            }
        }
        #expect(leftOut.count == 6)
    }

    @Test("a trace that is torn, has a gap, has another version or no process is refused")
    func damaged() throws {
        let kept = try record(["/bin/sh", "-c", "echo a >b"])
        #expect(kept.run.unseen == [])
        // The last record only tells that a process ended, so only the count shows that it is missing.
        let count = try kept.pieces.count
        for end in 1..<kept.trace.count {
            #expect(!kept.judged(Array(kept.trace[..<end]), count: count).unseen.isEmpty, "cut at \(end)")
        }
        #expect(kept.judged([]).unseen.first?.contains("did not load the recorder") == true)
        var gap = kept.trace
        gap[8] = 7
        #expect(kept.judged(gap).unseen.first?.contains("is missing") == true)
        var version = kept.trace
        version[32] = 99
        #expect(kept.judged(version).unseen.first?.contains("version 99") == true)
        #expect(kept.judged(kept.trace, count: count).unseen == [])
    }

    /// Stores through a map, an append with another offset, C library streams, children.
    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
            int fd = open("map", O_RDWR | O_CREAT, 0644);
            if (ftruncate(fd, 20000)) return 1;
            char *base = mmap(NULL, 20000, PROT_READ, MAP_SHARED, fd, 0);
            mprotect(base, 20000, PROT_READ | PROT_WRITE);
            strcpy(base + 5000, "store");
            printf("stored\\n");
            fflush(stdout);
            if (pwrite(fd, "between", 7, 5002) != 7) return 2;
            base[19999] = 'e';
            msync(base, 20000, MS_SYNC);
            int end = open("map", O_WRONLY | O_APPEND | O_DSYNC);
            if (pwrite(end, "appended", 8, 0) != 8) return 3;
            FILE *file = fopen("stream", "w");
            for (int line = 0; line < 3000; line++) fprintf(file, "line %d\\n", line);
            fclose(file);
            char name[] = "made-XXXXXX";
            int made = mkstemp(name);
            syscall(SYS_write, made, "by number", 9);
            if (fork() == 0) {
                base[2] = 'c';
                syscall(SYS_renameat2, AT_FDCWD, name, AT_FDCWD, "made", 0);
                _exit(0);
            }
            wait(NULL);
            base[3] = 'p';
            return 0;
        }
        """

    @Test("stores through maps, streams, calls by number and children are recorded")
    func program() throws {
        let scratch = try TrialDirectory()
        try FileTree.writeText(scratch.path + "/program.c", Self.source)
        let compiler = ["clang", "-o", scratch.path + "/program", scratch.path + "/program.c"]
        try #require(try WatchedProgram(compiler).run().hasSucceeded, "clang cannot make a program")
        let kept = try record([scratch.path + "/program"], .terminal)
        #expect(kept.run.unseen == [] && kept.run.end.hasSucceeded, "\(kept.run.unseen)")
        // The store precedes the program's report in the trace, and is durable after the sync.
        let stored = kept.run.printed.first?.operations ?? 0
        let store = kept.run.operations[..<stored].contains { record in
            if case .write(_, let offset, let bytes) = record.action {
                offset <= 5_000 && bytes.count < 5_000
            } else {
                false
            }
        }
        #expect(store && kept.run.acknowledged(at: .max) == Array("stored\n".utf8))
        let appended = kept.run.operations.contains { record in
            if case .write(_, 20_000, let bytes) = record.action { bytes == Array("appended".utf8) } else { false }
        }
        #expect(appended && kept.run.operations.contains { if case .syncRange = $0.action { true } else { false } })
    }

    @Test("replaying every call of the probe gives the files on disk")
    func calls() throws {
        let verbs = [
            "write", "pwrite", "pwrite64", "writev", "pwritev", "pwritev64", "pwritev2", "pwritev64v2",
            "pwritev2-dsync", "pwritev64v2-sync", "ftruncate", "ftruncate64", "fallocate", "fallocate64",
            "posix_fallocate", "posix_fallocate64", "fsync", "fdatasync", "sync_file_range", "syncfs", "msync",
            "syscall-pwrite", "syscall-fdatasync",
        ]
        let words =
            ["open:a:rows", "open:b:old", "write:a:5000"] + verbs.map { "\($0):a:6000" }
            + ["open-dsync:c:synced", "write:c:700", "copy_file_range:c:a", "sendfile:c:a"]
            + ["rename:rows", "link:rows2", "truncate:rows22", "unlink:rows2", "creat:d:rows", "write:d:5"]
        let kept = try record([try PreloadFolder.probe()] + words)
        #expect(kept.run.unseen == [] && kept.run.end.hasSucceeded, "\(kept.run.unseen) \(kept.run.end.errorText)")
        #expect(kept.run.operations.count > 30)
    }

    @Test("unknown operations are reported")
    func notUnderstood() throws {
        for (script, word) in [
            ("echo x >../out; mv ../out in", "moved in"), ("mkdir a; mv a b", "a directory was renamed"),
            ("mkdir a; echo x >a/y; mv a b", "a directory was renamed"),
        ] {
            let run = try record(["/bin/sh", "-c", script]).run
            #expect(run.unseen.contains { $0.contains(word) }, "\(script): \(run.unseen)")
        }
    }
}
