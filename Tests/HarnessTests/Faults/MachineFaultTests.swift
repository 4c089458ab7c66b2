import Files
import Platform
import RunRecords
import Seeds
import Testing

@testable import Harness

/// Failures of the machine are no verdicts on an engine.
@Suite(.serialized)
struct MachineFaultTests {
    private let directory: TestDirectory
    private let shell: ShellProcess

    init() throws {
        directory = try TestDirectory()
        shell = try ShellProcess(directory)
        try FileTree.writeText(
            directory.path + "/p.json5",
            "{ summary: 'p', budget_seconds: 60, memory_megabytes: 256, engines: ['model'], cases: [ "
                + "{scenario: 'planted-full-disk', parameters: {mebibytes: 40, sweep: [false, true]}}, "
                + "{scenario: 'planted-pass'} ] }")
    }

    private static let mayMount: Bool = {
        guard let shell = try? ShellProcess(try TestDirectory()) else { return false }
        let end = try? shell.run("mkdir disk && mount -t tmpfs -o size=1m tmpfs disk && umount disk")
        return end?.status == .exited(0)
    }()

    private func mount(megabytes: Int) throws -> String {
        let end = try shell.run("mkdir disk && mount -t tmpfs -o size=\(megabytes)m tmpfs disk")
        try #require(end.status == .exited(0), "\(end.output)")
        return directory.path + "/disk"
    }

    private func unmount() {
        do { _ = try shell.run("umount disk") } catch { Issue.record(error) }
    }

    @Test(
        "a full disk under the run is a harness error that names the remedy",
        .enabled(if: mayMount, "needs the right to mount a file system"))
    func fullDisk() throws {
        let disk = try mount(megabytes: 32)
        defer { unmount() }
        let end = try shell.run("assay run p.json5 --out disk/run --plans .")
        #expect(end.status == .exited(1), "\(end.output)")
        let results = try RunDirectory(path: disk + "/run").load().results
        #expect(results.map(\.verdict) == [.harnessError, .harnessError, .pass], "\(end.output)")
        for result in results.prefix(2) {
            #expect(result.message.contains("is full") && result.message.contains("--out"), "\(result.message)")
        }
    }

    @Test("the same message with free space is a verdict on the engine")
    func room() throws {
        let end = try shell.run("assay run p.json5 --out run --plans .")
        #expect(end.status == .exited(2), "\(end.output)")
        let results = try RunDirectory(path: directory.path + "/run").load().results
        #expect(results.map(\.verdict) == [.violation, .violation, .pass], "\(end.output)")
    }

    @Test(
        "a plan that cannot fit is refused before anything is created",
        .enabled(if: mayMount, "needs the right to mount a file system"))
    func tooLarge() throws {
        let disk = try mount(megabytes: 64)
        defer { unmount() }
        try FileTree.writeText(
            directory.path + "/q.json5",
            "{ summary: 'q', engines: ['strata'], cases: [{scenario: 'point-read', sizes: 5000000}] }")
        let end = try shell.run("assay run q.json5 --out disk/run --plans .")
        #expect(end.status == .exited(1) && end.output.contains("are free"), "\(end.output)")
        for remedy in ["make room", "--out", "--size"] { #expect(end.output.contains(remedy), "\(end.output)") }
        #expect(try FileTree.names(in: disk).isEmpty)
    }

    @Test("a hard limit that is too tight is refused with its remedy, a soft one is raised")
    func limits() throws {
        for (limit, remedy) in [("n 20", "ulimit -n"), ("v 2000000", "ulimit -v"), ("f 100", "ulimit -f")] {
            let end = try shell.run("ulimit -\(limit) || exit 99\nassay run p.json5 --out run --plans .")
            #expect(end.status == .exited(1), "\(limit): \(end.output)")
            #expect(end.output.contains(remedy) && end.output.contains("a run needs"), "\(end.output)")
        }
        let end = try shell.run(
            "ulimit -S -n 40 && ulimit -S -f 2000 || exit 99\n"
                + "assay run p.json5 --scenario planted-pass --out run --plans ."
        )
        #expect(end.status == .exited(0), "\(end.output)")
    }

    @Test(
        "a directory without write permission is a harness error that names the remedy",
        .enabled(if: geteuid() == 0 && FileTree.exists("/usr/bin/setpriv"), "needs another user to be"))
    func notWritable() throws {
        try FileTree.createDirectory(directory.path + "/theirs")
        try #require(chmod(directory.path, 0o755) == 0)
        let end = try shell.run(
            "setpriv --reuid=65534 --regid=65534 --clear-groups $(readlink -f bin/assay) "
                + "run p.json5 --out theirs --plans .")
        // Skipped if the other user cannot run the program.
        if end.output.contains("setpriv: failed to execute") { return }
        #expect(end.status == .exited(1), "\(end.output)")
        #expect(end.output.contains("may not be written to") && end.output.contains("--out"), "\(end.output)")
    }

    @Test("an engine's error message counts only if the machine confirms it")
    func words() throws {
        let full = HarnessFault.reason(texts: ["database or disk is full"], directory: directory.path)
        let free = try #require(HarnessFault.freeBytes(directory.path))
        #expect((full != nil) == (free < HarnessFault.doubtBytes))
        #expect(HarnessFault.reason(texts: ["Disk quota exceeded"], directory: "/d")?.contains("quota") == true)
        #expect(HarnessFault.reason(texts: ["row 5: expected 1, got 2"], directory: directory.path) == nil)
        #expect(HarnessFault.reason(in: directory.path) == nil)
        #expect(HarnessFault.reason(in: directory.path + "/gone")?.contains("is gone") == true)
        #expect(HarnessFault.reason(signal: SIGKILL)?.contains("killed from outside") == true)
        #expect(HarnessFault.reason(signal: SIGSEGV) == nil)
    }

    @Test("what a plan needs grows with rows and engines")
    func space() throws {
        func planned(_ size: Int, _ dataset: String = "people") -> PlannedCase {
            PlannedCase(
                test: Case(
                    scenario: "point-read", family: .workload, engine: "none", dataset: dataset, size: size,
                    parameters: [], seed: Seed(1), durability: .full), weight: 1, verdict: nil, reason: "")
        }
        let empty = FreeSpace.databaseBytes(planned(1, "").test, Registries())
        #expect(FreeSpace.databaseBytes(planned(1_000_000).test, Registries()) >= empty + 53_000_000)
        #expect(FreeSpace.databaseBytes(planned(.max).test, Registries()) > 1 << 50, "no overflow to little")
        try FileTree.writeText(directory.path + "/rows.csv", String(repeating: "a,b\n", count: 1_000))
        let file = FreeSpace.databaseBytes(planned(0, directory.path + "/rows.csv").test, Registries())
        #expect(file >= empty + 4_000)
    }

    @Test("two programs have different digests, and each byte counts")
    func digests() throws {
        let paths = ["a", "b", "c"].map { directory.path + "/" + $0 }
        var bytes = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try FileTree.writeBytes(paths[0], bytes)
        for place in [0, 7, 31, 32, 50_000, 99_999, 100_002] {
            bytes[place] ^= 1
            try FileTree.writeBytes(paths[1], bytes)
            bytes[place] ^= 1
            #expect(FileDigest.value(file: paths[0]) != FileDigest.value(file: paths[1]), "byte \(place)")
        }
        try FileTree.writeBytes(paths[1], bytes + [0])
        #expect(FileDigest.value(file: paths[0]) != FileDigest.value(file: paths[1]))
        try FileTree.writeBytes(paths[2], bytes)
        #expect(FileDigest.value(file: paths[0]) == FileDigest.value(file: paths[2]))
        #expect(FileDigest.value(file: "/no/such") == nil)
    }
}
