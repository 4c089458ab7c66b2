import Files
import Platform
import Testing

@testable import Harness

@Suite struct WorkerEnvironmentTests {
    @Test("the preloaded library is added, and nothing else changes")
    func added() {
        let inherited: [EnvironmentVariable] = ["PATH=/bin", "LD_PRELOAD=/a/other.so", "TERM=xterm"]
        #expect(
            WorkerEnvironment.variables(inherited, library: "/b/ours.so") == [
                "PATH=/bin", "TERM=xterm", "LD_PRELOAD=/a/other.so:/b/ours.so",
            ])
        #expect(WorkerEnvironment.variables(inherited, library: nil) == inherited)
    }

    @Test("a crash starts no program that prints a backtrace, unless the caller of Assay wants one")
    func backtraces() {
        let plain: [EnvironmentVariable] = ["PATH=/bin"]
        #expect(WorkerEnvironment.withoutBacktraces(plain) == plain + ["SWIFT_BACKTRACE=enable=no"])
        let wanted: [EnvironmentVariable] = ["SWIFT_BACKTRACE=enable=yes", "PATH=/bin"]
        #expect(WorkerEnvironment.withoutBacktraces(wanted) == wanted)
        #expect(WorkerEnvironment.withoutBacktraces(plain, given: [wanted[0]]) == plain)
        let all = WorkerEnvironment.variables(executable: "/bin/sh")
        #expect(all.count { $0.hasPrefix("SWIFT_BACKTRACE=") } == 1)
    }

    @Test("the name of a planted mistake is passed to the worker, with the library and without")
    func plantedMistake() {
        let inherited: [EnvironmentVariable] = ["ASSAY_ZOO_MISTAKE=strata-stale-count", "PATH=/bin"]
        for library in ["/b/ours.so", nil] {
            let variables = WorkerEnvironment.variables(inherited, library: library)
            #expect(variables.filter { $0.hasPrefix("ASSAY_ZOO_") } == ["ASSAY_ZOO_MISTAKE=strata-stale-count"])
        }
    }

    @Test("bytes that are not UTF-8 are passed on exactly, and canonically equal names stay distinct")
    func bytes() throws {
        let odd = EnvironmentVariable(Array("ODD=caf".utf8) + [0xE9, 0x0A, 0xFF])
        let library = EnvironmentVariable(Array("LD_PRELOAD=/a/caf".utf8) + [0xE9] + Array(".so:/b/ours.so".utf8))
        let given: [EnvironmentVariable] = [odd, library, "caf\u{E9}=1", "cafe\u{301}=2", "no sign"]
        // The environment as a process sees it.
        let found = CommandVector.with(given) { WorkerEnvironment.variables(of: $0) }
        #expect(found == given)
        let handedOn = WorkerEnvironment.variables(found, library: "/b/ours.so")
        #expect(Set(handedOn) == Set(given) && handedOn.last == library)
        #expect(given.compactMap(\.name).count == 4 && Set(given.compactMap(\.name)).count == 4)
    }

    @Test("a program receives the bytes unchanged")
    func started() throws {
        let directory = try TestDirectory()
        let output = directory.path + "/output"
        let odd = EnvironmentVariable(Array("ODD=caf".utf8) + [0xE9])
        let process = try ProcessStart.run(["/usr/bin/env"], environment: [odd, "PLAIN=1"]) { actions in
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT, 0o644)
        }
        #expect(AssayProcess.wait(process) == .exited(0))
        #expect(try FileTree.readBytes(output) == odd.bytes + Array("\nPLAIN=1\n".utf8))
    }

    @Test("a program without the preloaded library beside it is started without one")
    func absent() {
        let variables = WorkerEnvironment.variables(executable: "/bin/sh")
        #expect(variables.contains { $0.hasPrefix("PATH=") })
        #expect(!variables.contains { $0.text.contains("libAssayPreload") })
    }
}
