import FaultModel
import Files
import Harness
import Testing

@testable import ProgramTrials

/// A program must not notice the recorder. Each word makes a program try one operation, and end with a status other
/// than 0 if the result differs from that without a recorder.
@Suite(.enabled(if: PreloadFolder.records, "no program can be recorded here"))
struct RecorderPresenceTests {
    private static let beginning = """
        #include <errno.h>
        #include <fcntl.h>
        #include <limits.h>
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <sys/sendfile.h>
        #include <sys/stat.h>
        #include <sys/uio.h>
        #include <sys/wait.h>
        #include <unistd.h>
        #define PAGE 4096L
        static void need(int holds, int line) { if (!holds) { fprintf(stderr, "line %d\\n", line); exit(9); } }
        #define NEED(holds) need((holds), __LINE__)
        static int made(const char *name, int flags) {
            int fd = open(name, flags | O_CREAT, 0644);
            NEED(fd >= 0);
            return fd;
        }

        """

    private static let locks = """
        // Whether this process has the lock, as another process sees it.
        static int is_held(const char *name) {
            pid_t child = fork();
            if (child == 0) {
                int fd = open(name, O_RDWR);
                struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
                _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? 0 : 1);
            }
            int status;
            waitpid(child, &status, 0);
            return status == 0;
        }
        static void lock(int fd) {
            struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
            NEED(fcntl(fd, F_SETLK, &lock) == 0);
        }
        static void try_locks(void) {
            int other = made("other", O_RDWR), fd = made("locked", O_RDWR);
            NEED(write(other, "0123456789", 10) == 10 && ftruncate(fd, 3 * PAGE) == 0);
            lock(fd);
            for (int writes = 0; writes < 2; writes++) {
                int protection = writes ? PROT_READ | PROT_WRITE : PROT_READ;
                char *map = mmap(NULL, 3 * PAGE, protection, MAP_SHARED, fd, 0);
                if (writes) map[7] = 'x';
                NEED(munmap(map, 3 * PAGE) == 0 && is_held("locked"));
            }
            off64_t from = 0, to = 100;
            NEED(copy_file_range(other, &from, fd, &to, 10, 0) == 10 && is_held("locked"));
            from = 2;
            NEED(lseek(fd, 200, SEEK_SET) == 200 && sendfile(fd, other, &from, 8) == 8 && is_held("locked"));
            NEED(chmod("locked", 0640) == 0 && fchmod(fd, 0600) == 0 && rename("locked", "renamed") == 0);
            NEED(is_held("renamed"));
            // A descriptor that can only write cannot be read back.
            int plain = made("plain", O_WRONLY);
            from = 5;
            lock(plain);
            NEED(copy_file_range(other, &from, plain, NULL, 5, 0) == 5 && is_held("plain"));
            fsync(fd);
        }
        static void try_numbers(void) {
            int fd = made("file", O_RDWR);
            printf("the first is %d\\n", fd);
            NEED(ftruncate(fd, PAGE) == 0);
            char *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            map[0] = 'a';
            NEED(made("next", O_RDWR) == fd + 1 && made("third", O_WRONLY) == fd + 2);
            munmap(map, PAGE);
            NEED(dup(fd) == fd + 3 && fcntl(198, F_GETFD) < 0 && errno == EBADF);
        }

        """

    private static let stacks = """
        static void *work(void *unused) {
            (void)unused;
            int fd = made("small", O_RDWR);
            static struct iovec parts[1000];
            for (int part = 0; part < 1000; part++) parts[part] = (struct iovec){"ab", 2};
            NEED(write(fd, "row", 3) == 3 && writev(fd, parts, 1000) == 2000 && fsync(fd) == 0);
            NEED(rename("small", "large") == 0 && link("large", "other") == 0 && unlink("other") == 0);
            NEED(mkdir("deep", 0700) == 0 && symlink("large", "link") == 0 && chmod("large", 0600) == 0);
            NEED(truncate("large", 1000) == 0 && syncfs(fd) == 0 && close(fd) == 0);
            int directory = open(".", O_RDONLY | O_DIRECTORY);
            NEED(fsync(directory) == 0 && mkfifo("fifo", 0644) == 0 && rmdir("deep") == 0);
            return NULL;
        }
        static void try_stack(void) {
            pthread_attr_t attributes;
            pthread_t thread;
            pthread_attr_init(&attributes);
            NEED(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
            NEED(pthread_create(&thread, &attributes, work, NULL) == 0 && pthread_join(thread, NULL) == 0);
        }
        static void try_maps(int protection) {
            int fd = made("map", O_RDWR);
            NEED(ftruncate(fd, 8 * PAGE) == 0);
            char *map = mmap(NULL, 2 * PAGE, protection, MAP_SHARED, fd, 0);
            if (protection & PROT_WRITE) map[PAGE + 1] = 'a';
            // At its address and at another one.
            map = mremap(map, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
            NEED(map != MAP_FAILED);
            if (protection & PROT_WRITE) map[3 * PAGE + 1] = 'b';
            void *place = mmap(NULL, 16 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            map = mremap(map, 4 * PAGE, 8 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
            NEED(map == place);
            if (!(protection & PROT_WRITE)) NEED(mprotect(map, 8 * PAGE, PROT_READ | PROT_WRITE) == 0);
            map[7 * PAGE + 1] = 'c';
            NEED(msync(map, 8 * PAGE, MS_SYNC) == 0 && munmap(map, 8 * PAGE) == 0);
        }
        int main(int count, char **words) {
            const char *word = words[1];
            if (!strcmp(word, "locks")) try_locks();
            else if (!strcmp(word, "numbers")) try_numbers();
            else if (!strcmp(word, "stack")) try_stack();
            else if (!strcmp(word, "read-map")) try_maps(PROT_READ);
            else if (!strcmp(word, "written-map")) try_maps(PROT_READ | PROT_WRITE);
            else return 8;
            return count != 2;
        }
        """

    @Test("locks, descriptors, small stacks and moved maps work as without it, and everything is recorded")
    func unchanged() throws {
        let place = try TrialDirectory()
        let program = try RecordedProgram.compile(Self.beginning + Self.locks + Self.stacks, in: place)
        for word in ["locks", "numbers", "stack", "read-map", "written-map"] {
            var alone = WatchedProgram([program, word])
            let directory = try TrialDirectory()
            alone.directory = directory.path
            alone.output = .pipe
            let end = try alone.run()
            try #require(end.hasSucceeded, "\(word) without a recorder")
            let recorded = try RecordedProgram([program, word]).run
            #expect(recorded.end.hasSucceeded, "\(word): \(recorded.end.summary) \(recorded.end.errorText)")
            #expect(recorded.unseen == [] && recorded.end.output == end.output, "\(word): \(recorded.end.outputText)")
        }
    }

    @Test("a program that waits for a FIFO does not stop the others")
    func fifo() throws {
        let recorded = try RecordedProgram.shell(
            "mkfifo p; echo one >p & sleep 0.2; echo early >log; cat p >copy; wait; rm p; mkfifo q")
        #expect(recorded.run.unseen == [] && recorded.run.end.hasSucceeded)
        #expect(recorded.after.image["copy"]?.bytes == Array("one\n".utf8))
        #expect(recorded.after.nodes.values.contains { $0.kind == .fifo })
    }

    @Test("the built disks have permissions, links and FIFOs as the program had made them by then")
    func built() throws {
        let recorded = try RecordedProgram.shell(
            "printf '#!/bin/sh\\n' >run; chmod 750 run; umask 077; mkdir d; echo x >d/key; ln -s ../run d/link; "
                + "mkfifo p; ln -s one l; ln -s two m; mv -T m l; chmod 500 d; rm -f gone; ln -s x gone; rm gone"
        ) { root in
            try FileTree.writeText(root + "/old", "old")
            try FileTree.setMode(0o444, of: BytePath(root + "/old"))
        }
        #expect(recorded.run.unseen == [] && recorded.run.end.hasSucceeded, "\(recorded.run.end.errorText)")
        let count = recorded.run.operations.count
        var finished = DiskModel(recorded.run.base, after: count, of: recorded.run.operations).current
        let place = recorded.scratch.path + "/built"
        try FileTree.createDirectory(place)
        try recorded.run.build(finished, at: count, in: place)
        let (one, other) = (try listing(recorded.root), try listing(place))
        #expect(one == other && one.contains("./run 750") && one.contains("./old 444") && one.contains("./d 500"))
        #expect(one.contains("./d/key 600") && one.contains("./l 777 -> two") && one.contains("./d/link 777 -> ../run"))
        // Before the second link replaced it the first one existed.
        let states = (0...count).map { operation in
            DiskModel(recorded.run.base, after: operation, of: recorded.run.operations).current
        }
        let first = FileNode(.link(target: Array("one".utf8)), mode: 0).image
        #expect(states.contains { $0["l"] == first })
        // A lost link is another disk.
        var lost = finished
        lost.entries["l"] = nil
        #expect(lost.digest() != finished.digest())
    }

    private func listing(_ directory: String) throws -> Set<String> {
        let script = "find . ! -type l -printf '%p %m\\n' -o -printf '%p %m -> %l\\n'"
        var program = WatchedProgram(["/bin/sh", "-c", script])
        program.directory = directory
        program.output = .pipe
        return Set(try program.run().outputText.split(separator: "\n").map(String.init))
    }

    @Test("an unrecorded change of permissions is detected")
    func modes() throws {
        let recorded = try RecordedProgram.shell("echo x >x; mkdir d; chmod 700 d; chmod 600 x")
        #expect(recorded.run.unseen == [])
        let modes = recorded.run.modes(at: .max)
        let entries = recorded.after.image.entries
        let inode = try #require(entries["x"])
        #expect(modes[directory: "d"] == 0o700 && recorded.after.modes[inode] == 0o600)
        let usual = recorded.after.difference(from: FileModes(), entries: entries)
        #expect(usual?.contains("x has the permissions") == true)
        var directories = recorded.after.modes
        directories[directory: "d"] = 0o755
        let other = recorded.after.difference(from: directories, entries: entries)
        #expect(other?.contains("d has the permissions") == true)
        #expect(recorded.after.difference(from: recorded.after.modes, entries: entries) == nil)
    }

    /// Names of bytes: not UTF-8, one letter in two spellings of Unicode, a backslash, a line end.
    private static let names = [
        [0x63, 0x61, 0x66, 0xE9], Array("caf\u{E9}".utf8), Array("cafe\u{301}".utf8), Array("a\\xE9".utf8),
        Array("a\nb".utf8), Array("\u{301}x".utf8),
    ].map(BytePath.init(_:))

    @Test("names are bytes, the directory's own, too")
    func names() throws {
        let parent = try TrialDirectory()
        let beyond = parent.path + "/tmp\u{E9}e\u{301}"
        try FileTree.createDirectory(beyond)
        let recorded = try RecordedProgram.shell(
            "for name in old-*; do cp \"$name\" \"new-${name#old-}\"; rm \"$name\"; mkdir \"dir-${name#old-}\"; "
                + "mv \"new-${name#old-}\" \"dir-${name#old-}/\"; done; sync", in: beyond
        ) { root in
            for (number, name) in Self.names.enumerated() {
                let path = BytePath(Array((root + "/old-").utf8) + name.bytes)
                try FileTree.make(path, [UInt8(number)], mode: 0o644)
            }
        }
        #expect(recorded.run.unseen == [] && recorded.run.end.hasSucceeded, "\(recorded.run.end.errorText)")
        let place = recorded.scratch.path + "/built"
        let count = recorded.run.operations.count
        try FileTree.createDirectory(place)
        try recorded.run.build(
            DiskModel(recorded.run.base, after: count, of: recorded.run.operations).current, at: count, in: place)
        for (number, name) in Self.names.enumerated() {
            let directory = BytePath(Array((place + "/dir-").utf8) + name.bytes)
            let file = directory.appending(BytePath(Array("new-".utf8) + name.bytes))
            #expect(try FileTree.readBytes(file) == [UInt8(number)])
        }
        #expect(try FileTree.names(in: BytePath(place)).count == Self.names.count)
    }

    @Test("links with volatile names are left out, and all others are kept")
    func volatileLinks() throws {
        let script = "ln -s x check-1; mv check-1 check; ln -s y kept"
        let recorded = try RecordedProgram.shell(script, volatile: ["check*"]) {
            try FileTree.writeText($0 + "/old", "old")
        }
        #expect(recorded.run.unseen == [])
        #expect(Set(recorded.after.image.entries.keys) == ["kept", "old"])
    }
}
