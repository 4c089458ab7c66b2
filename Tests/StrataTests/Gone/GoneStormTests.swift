import Foundation
import Seeds
import Strata
import Testing

/// Storms of accesses to objects that other threads delete. `STORM_SEED` repeats one, `STORM_MINUTES` sets their
/// duration.
@Suite struct GoneStormTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let minutes = environment["STORM_MINUTES"].flatMap(Double.init)
    private static let firstSeed = environment["STORM_SEED"].flatMap(UInt64.init) ?? 1

    /// The default duration of all storms in seconds, short since other tests run meanwhile.
    private static let seconds = minutes.map { $0 * 60 } ?? 16
    private static let secondsOfOne = minutes == nil ? 4.0 : 30.0

    @Test("a storm under substitute does not end the process")
    func substitute() async throws {
        let end = Date().addingTimeInterval(Self.seconds)
        var seed = Self.firstSeed
        repeat {
            let seconds = min(Self.secondsOfOne, max(1, end.timeIntervalSinceNow))
            let output = TemporaryFile()
            let path = output.url.path
            await #expect(processExitsWith: .success) {
                [seed = seed as UInt64, seconds = seconds as Double, path = path as String] in
                GoneRun.write(to: path)
                try await GoneStorm.run(Seed(seed), seconds: seconds, .substitute)
                GoneRun.note(GoneRun.end)
            }
            let lines = GoneRun.lines(output)
            if !lines.contains(GoneRun.end) { Self.record(seed, GoneRun.ending(lines)) }
            seed += 1
        } while Date() < end
    }

    @Test("a storm under trap ends the process only with Realm's messages")
    func trap() async throws {
        let end = Date().addingTimeInterval(Self.seconds / 2)
        var seed = Self.firstSeed
        repeat {
            let output = TemporaryFile()
            let path = output.url.path
            await #expect(processExitsWith: .failure) { [seed = seed as UInt64, path = path as String] in
                GoneRun.write(to: path)
                try await GoneStorm.run(Seed(seed), seconds: 20, .trap)
            }
            let text = GoneRun.ending(GoneRun.lines(output))
            if !GoneRun.texts.contains(where: text.contains) { Self.record(seed, text) }
            seed += 1
        } while Date() < end
    }

    private static func record(_ seed: UInt64, _ text: String) {
        Issue.record("STORM_SEED=\(seed) swift test --filter GoneStormTests: \(text)")
    }
}
