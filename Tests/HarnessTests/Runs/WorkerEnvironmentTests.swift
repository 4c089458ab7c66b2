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

    @Test("the name of a planted mistake goes on to the worker, with the library and without")
    func plantedMistake() {
        let inherited = ["ASSAY_ZOO_MISTAKE=strata-stale-count", "PATH=/bin"]
        for library in ["/b/ours.so", nil] {
            let variables = WorkerEnvironment.variables(inherited, library: library)
            #expect(variables.filter { $0.hasPrefix("ASSAY_ZOO_") } == ["ASSAY_ZOO_MISTAKE=strata-stale-count"])
        }
    }

    @Test("a program without the library beside it gets what this one has")
    func absent() {
        let variables = WorkerEnvironment.variables(executable: "/bin/sh")
        #expect(variables.contains { $0.hasPrefix("PATH=") })
        #expect(!variables.contains { $0.contains("libAssayPreload") })
    }
}
