import Files
import Harness
import Platform
import Seeds
import Testing

@testable import ProgramTrials

/// Calls that the recorder in the program misses: each is reported before a verdict.
@Suite(.enabled(if: PreloadFolder.records, "no program can be recorded here"))
struct PastCallsTests {
    /// Applies the operation of its first word to a file; its second word names a file elsewhere. Prints `none` if the
    /// system lacks the call.
    private static let source = """
        #include <aio.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <linux/aio_abi.h>
        #include <linux/io_uring.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        // By a direct system call of the program.
        static long call(long number, long a, long b, long c, long d, long e) {
        #if defined(__x86_64__)
            register long r10 __asm__("r10") = d;
            register long r8 __asm__("r8") = e;
            register long r9 __asm__("r9") = 0;
            long result;
            __asm__ volatile("syscall" : "=a"(result)
                             : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                             : "rcx", "r11", "memory");
            return result;
        #else
            register long x8 __asm__("x8") = number;
            register long x0 __asm__("x0") = a;
            register long x1 __asm__("x1") = b;
            register long x2 __asm__("x2") = c;
            register long x3 __asm__("x3") = d;
            register long x4 __asm__("x4") = e;
            register long x5 __asm__("x5") = 0;
            __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
            return x0;
        #endif
        }
        static int is_none(const char *word, const char *name) { return strncmp(word, name, strlen(name)) != 0; }
        static void ring(const char *word) {
            struct io_uring_params params = {0};
            long made = call(SYS_io_uring_setup, 4, (long)&params, 0, 0, 0);
            if (made < 0) printf("none\\n");
            else if (!strcmp(word, "ring")) call(SYS_io_uring_enter, made, 1, 0, 0, 0);
        }
        static void kernel_aio(const char *word, int fd) {
            static char bytes[16] = "row";
            aio_context_t context = 0;
            int kind = strstr(word, "read") ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
            struct iocb block = {.aio_lio_opcode = kind, .aio_fildes = fd, .aio_nbytes = 3};
            block.aio_buf = (uintptr_t)bytes;
            struct iocb *blocks[] = {&block};
            struct io_event event;
            if (call(SYS_io_setup, 4, (long)&context, 0, 0, 0) < 0) printf("none\\n");
            else if (call(SYS_io_submit, context, 1, (long)blocks, 0, 0) == 1)
                call(SYS_io_getevents, context, 1, 1, (long)&event, 0);
        }
        static void posix_aio(int fd) {
            struct aiocb block = {.aio_fildes = fd};
            const struct aiocb *blocks[] = {&block};
            aio_fsync(O_SYNC, &block);
            while (aio_error(&block) == EINPROGRESS) aio_suspend(blocks, 1, NULL);
        }
        int main(int count, char **words) {
            const char *word = words[1];
            int fd = open("file", O_RDWR | O_CREAT, 0644), outside = open(words[2], O_RDWR | O_CREAT, 0644), ends[2];
            if (count != 3 || write(fd, "row", 3) != 3 || pipe(ends) || write(ends[1], "pip", 3) != 3) return 9;
            char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            if (!strcmp(word, "fsync")) call(SYS_fsync, fd, 0, 0, 0, 0);
            if (!strcmp(word, "fdatasync")) call(SYS_fdatasync, fd, 0, 0, 0, 0);
            if (!strcmp(word, "outside")) call(SYS_fsync, outside, 0, 0, 0, 0);
            if (!strcmp(word, "sync")) call(SYS_sync, 0, 0, 0, 0, 0);
            if (!strcmp(word, "syncfs")) call(SYS_syncfs, outside, 0, 0, 0, 0);
            if (!strcmp(word, "msync")) call(SYS_msync, (long)map, 4096, MS_SYNC, 0, 0);
            if (!strcmp(word, "splice") && splice(ends[0], NULL, fd, NULL, 3, 0) != 3) return 8;
            if (!is_none(word, "ring")) ring(word);
            if (!is_none(word, "kernel-aio")) kernel_aio(word, fd);
            if (!strcmp(word, "posix-aio")) posix_aio(fd);
            if (!strcmp(word, "seen")) return fsync(fd) + fdatasync(fd) + syncfs(fd) + msync(map, 4096, MS_SYNC);
            return 0;
        }
        """

    @Test("each direct system call is reported, unless it changes nothing")
    func calls() throws {
        let place = try TrialDirectory()
        let program = try RecordedProgram.compile(Self.source, in: place)
        for (word, reason) in [
            ("fsync", "a sync of file"), ("fdatasync", "a sync of file"), ("sync", "a sync of everything"),
            ("syncfs", "of the whole file system"), ("msync", "a map of file"), ("splice", "a splice to file"),
            ("ring", "io_uring"), ("kernel-aio", "asynchronous I/O (libaio) of file"), ("posix-aio", "aio"),
            ("outside", ""), ("ring-idle", ""), ("kernel-aio-read", ""), ("seen", ""),
        ] {
            let run = try RecordedProgram([program, word, place.path + "/outside"]).run
            #expect(run.end.hasSucceeded, "\(word): \(run.end.summary)")
            if run.end.outputText == "none\n" { continue }
            let isTold = run.past.contains { $0.contains(reason) }
            #expect(reason.isEmpty ? run.unseen == [] : isTold, "\(word): \(run.unseen)")
        }
    }

    @Test("each program executed without the recorder is reported, whatever the reason")
    func programs() throws {
        let place = try TrialDirectory()
        let helper = try RecordedProgram.compile(Self.source, in: place, ["-static"])
        let run = "\(helper) seen \(place.path)/outside"
        try FileTree.writeText(place.path + "/script", "#!\(helper)\n")
        try FileTree.setMode(0o755, of: BytePath(place.path + "/script"))
        for (script, word) in [
            ("echo x >x; \(run)", "linked statically"), ("exec \(run)", "linked statically"),
            ("echo x >x; \(place.path)/script 2>/dev/null; true", "linked statically"),
            ("env -i /bin/sh -c 'true'", "its environment does not say so"),
            ("LD_PRELOAD= cat old; true", "its environment does not say so"),
        ] {
            let recorded = try RecordedProgram.shell(script).run
            #expect(recorded.past.contains { $0.contains(word) }, "\(script): \(recorded.unseen)")
        }
        let first = try RecordedProgram([helper, "seen", place.path + "/outside"]).run
        #expect(first.past.first?.contains("the program did not load the recorder") == true, "\(first.unseen)")
        // Missing programs, and scripts without an interpreter line, do not count.
        let none = try RecordedProgram.shell(
            "./no-such-program 2>/dev/null; printf 'true\\n' >s; chmod 755 s; ./s; /bin/sh -c 'exec cat s' >t; "
                + "env true")
        #expect(none.run.unseen == [] && none.run.end.hasSucceeded, "\(none.run.unseen)")
    }

    @Test("a setuid program is reported", .enabled(if: getuid() == 0, "only root can make one"))
    func rights() throws {
        let place = try TrialDirectory()
        // It is reported even if the file system ignores setuid.
        let program = try RecordedProgram.compile("int main(void) { return 0; }", in: place)
        try #require(chown(program, 65_534, 65_534) == 0)
        try FileTree.setMode(0o4755, of: BytePath(program))
        let run = try RecordedProgram.shell("echo x >x; \(program)").run
        #expect(run.past.contains { $0.contains("set-user-ID") }, "\(run.unseen)")
    }

    @Test("eio, full and kill report the calls that no fault reaches, and that the trials are incomplete")
    func faults() throws {
        let place = try TrialDirectory()
        let program = try RecordedProgram.compile(Self.source, in: place)
        let helper = try RecordedProgram.compile(Self.source, in: place, ["-static"])
        for (script, word) in [
            ("cd {}; echo x >x; \(program) fsync \(place.path)/outside", "NOT TRIED: a sync of file"),
            ("cd {}; echo x >x; \(helper) none \(place.path)/outside", "linked statically"),
            ("cd {}; echo x >x; env -i /bin/sh -c 'echo y >y'", "NOT TRIED: /bin/sh was executed"),
            ("cd {}; echo x >x; cat x >y", ""),
        ] {
            let directory = try TrialDirectory()
            let library = try #require(PreloadFolder.library)
            var trials = ProgramFaultTrials(
                ["/bin/sh", "-c", script], check: CheckCommand("test -d {}"), library: library,
                directory: directory.path)
            trials.output = .pipe
            let baseline = try trials.baseline()
            let fault = CallFault.fails(kinds: "write", number: 0, effect: .inputOutputError, isLasting: false)
            let report = ProgramFaultReport(try trials.run([fault], baseline).outputs, baseline, mustTell: false)
            let text = report.lines { "\($0)" }.joined(separator: "\n")
            #expect(report.exitStatus == (word.isEmpty ? 0 : 3) && (word.isEmpty || text.contains(word)), "\(text)")
        }
    }

    @Test("if the kernel reports no calls there is a reason, and no verdict")
    func refused() throws {
        let directory = try TrialDirectory()
        let watch = try CallWatch(directory.path, without: try VolatileNames(adding: []))
        var code = EBUSY
        try #require(write(watch.given, &code, 4) == 4)
        try watch.start()
        let reasons = watch.finish().reasons
        #expect(reasons.count == 1 && reasons[0].contains("seccomp: \(String(cString: strerror(EBUSY)))"), "\(reasons)")
        // A recorder of another version requests no watching.
        let silent = try CallWatch(directory.path, without: try VolatileNames(adding: []))
        try silent.start()
        #expect(
            silent.finish().reasons == ["the recorder asked for no watch over the calls that it does not see"])
    }

    @Test("a program that loaded the recorder in every execution was seen")
    func counts() {
        var calls = PastCalls()
        for name in ["a", "b"] { calls.note(PastCalls.Program(name: name), by: 7) }
        #expect(calls.withoutRecorder([7: 2]).isEmpty)
        #expect(calls.withoutRecorder([7: 1]).map { $0.prefix(5) } == ["b was"])
        calls.note(PastCalls.Program(name: "c", isStatic: true), by: 8)
        let text = "c was executed and did not load the recorder: it is linked statically"
        #expect(calls.withoutRecorder([7: 2]) == [text])
        calls.note(PastCalls.Program(name: "d", gainsRights: true), by: 9)
        #expect(calls.withoutRecorder([7: 2, 8: 1]).isEmpty && calls.reasons.count == 1)
    }
}
