import Testing

@testable import Harness

@Suite("WorkerEnvironment")
struct WorkerEnvironmentTests {
    @Test("the preloaded library is added, and nothing else is changed")
    func added() {
        let inherited = ["PATH=/bin", "LD_PRELOAD=/a/other.so", "TERM=xterm"]
        #expect(
            WorkerEnvironment.variables(inherited, library: "/b/ours.so") == [
                "PATH=/bin", "TERM=xterm", "LD_PRELOAD=/a/other.so:/b/ours.so",
            ])
        #expect(WorkerEnvironment.variables(inherited, library: nil) == inherited)
    }

    @Test("a program without the library beside it gets what this one has")
    func absent() {
        let variables = WorkerEnvironment.variables(executable: "/bin/sh")
        #expect(variables.contains { $0.hasPrefix("PATH=") })
        #expect(!variables.contains { $0.contains("libAssayPreload") })
    }
}
