import Testing

@testable import StrataTool

/// The words of `strata info`.
@Suite struct InfoCommandTests {
    @Test("free pages that the free map does not list yet are not said to be in 0 runs")
    func places() {
        #expect(InfoCommand.places(freeBytes: 0, runs: 0, longest: 0).isEmpty)
        #expect(
            InfoCommand.places(freeBytes: 8_192, runs: 0, longest: 0)
                == ", released by the last commits, and not in the list of free pages yet")
        #expect(InfoCommand.places(freeBytes: 4_096, runs: 1, longest: 4_096) == " in 1 run, the longest 4.0 KiB")
    }
}
