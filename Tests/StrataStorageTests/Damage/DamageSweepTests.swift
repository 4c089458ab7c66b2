import StrataFiles
import Testing

@testable import StrataStorage

/// Damage at every place of small files. By default a seeded sample; `DAMAGE_EVERYWHERE=1` visits every bit and every
/// length.
@Suite struct DamageSweepTests {
    enum Shape: String, CaseIterable {
        case clean, withLog, midCheckpoint
        case encrypted, encryptedWithLog, encryptedMidCheckpoint

        func image(seed: UInt64 = 11, steps: Int = 40) throws -> FileImages.Image {
            let cipher = TestCipher(key: 7)
            return switch self {
            case .clean: try FileImages.clean(seed: seed, steps: steps)
            case .withLog: try FileImages.withLog(seed: seed, steps: steps)
            case .midCheckpoint: try FileImages.midCheckpoint(seed: seed, steps: steps)
            case .encrypted: try FileImages.clean(seed: seed, steps: steps, cipher)
            case .encryptedWithLog: try FileImages.withLog(seed: seed, steps: steps, cipher)
            case .encryptedMidCheckpoint: try FileImages.midCheckpoint(seed: seed, steps: steps, cipher)
            }
        }

        /// Whether the files are encrypted. Fewer places of such files are tried, because the test's cipher is slow.
        var isEncrypted: Bool { self != .clean && self != .withLog && self != .midCheckpoint }
    }

    private static var isExhaustive: Bool { TestSettings.number("DAMAGE_EVERYWHERE") == 1 }

    /// Every number below `count`, or `sample` of them.
    private static func places(_ count: Int, sample: Int, _ random: inout SplitMix64) -> [Int] {
        if isExhaustive || count <= sample { return Array(0..<count) }
        return (0..<sample).map { _ in Int(random.below(UInt64(count))) }
    }

    private static func report(_ sweep: DamageSweep, _ what: String) {
        print("damage, \(what): \(sweep.counts)")
        for problem in sweep.counts.problems.prefix(5) { Issue.record("\(what): \(problem)") }
    }

    @Test("an undamaged file of every shape is exact, also read-only", arguments: Shape.allCases)
    func undamaged(shape: Shape) throws {
        let image = try shape.image()
        let sweep = DamageSweep(image)
        #expect(sweep.judge(data: image.data, log: image.log) == .exact)
        #expect(sweep.judge(data: image.data, log: image.log, readOnly: true) == .exact)
    }

    @Test("a flipped bit anywhere gives the exact state or an error", arguments: Shape.allCases)
    func bits(shape: Shape) throws {
        let image = try shape.image()
        var sweep = DamageSweep(image)
        let seed = TestSettings.number("DAMAGE_SEED") ?? 1
        var random = SplitMix64(seed: seed)
        let sample = TestSettings.trials(900, of: 4000) / (shape.isEncrypted ? 8 : 1)
        for bit in Self.places(image.data.count * 8, sample: sample, &random) {
            sweep.flip(bit: bit, ofLog: false)
        }
        // Header slots, which a random sample seldom hits.
        for slot in [0, Format.pageSize * 8] {
            for bit in Self.places(Format.slotSize * 8, sample: 300, &random) {
                sweep.flip(bit: slot + bit, ofLog: false)
            }
        }
        if let log = image.log {
            for bit in Self.places(log.count * 8, sample: sample, &random) { sweep.flip(bit: bit, ofLog: true) }
            for bit in Self.places(128 * 8, sample: 400, &random) {
                sweep.flip(bit: sweep.lastGroup * 8 + bit, ofLog: true)
            }
        }
        Self.report(sweep, "bits of \(shape.rawValue), seed \(seed)")
    }

    @Test("a zeroed page anywhere gives the exact state or an error", arguments: Shape.allCases)
    func pages(shape: Shape) throws {
        let image = try shape.image()
        var sweep = DamageSweep(image)
        for page in 0..<(image.data.count / Format.pageSize) { sweep.zero(page: page, ofLog: false) }
        for page in 0..<((image.log?.count ?? 0) / Format.pageSize) { sweep.zero(page: page, ofLog: true) }
        Self.report(sweep, "zeroed pages of \(shape.rawValue)")
    }

    @Test("a cut at any length gives the exact state or an error", arguments: Shape.allCases)
    func cuts(shape: Shape) throws {
        let image = try shape.image()
        var sweep = DamageSweep(image)
        var random = SplitMix64(seed: 2)
        for length in Self.places(image.data.count, sample: shape.isEncrypted ? 100 : 500, &random) {
            sweep.cut(length, ofLog: false)
        }
        for page in 0..<(image.data.count / Format.pageSize) { sweep.cut(page * Format.pageSize, ofLog: false) }
        for length in Self.places(image.log?.count ?? 0, sample: shape.isEncrypted ? 50 : 200, &random) {
            sweep.cut(length, ofLog: true)
        }
        Self.report(sweep, "cuts of \(shape.rawValue)")
    }

    @Test("a data file with the log of another moment gives a whole state of the history, or an error")
    func pairs() throws {
        let series = try FileImages.series(seed: 3, commits: 40)
        var problems: [String] = []
        var counts: [String: Int] = [:]
        var older: [(data: Int, log: Int)] = []
        for (dataAt, data) in series.enumerated() {
            for (logAt, log) in series.enumerated() {
                var image = data
                image.states = series.map(\.model)
                image.model = series[max(dataAt, logAt)].model
                var sweep = DamageSweep(Self.withoutLog(image))
                sweep.pair(data, log, "data \(dataAt) with log \(logAt)", allowsEarlier: true)
                problems += sweep.counts.problems
                if sweep.counts.exact > 0 { counts["newest", default: 0] += 1 }
                if sweep.counts.earlier > 0 { counts["earlier", default: 0] += 1 }
                if dataAt < logAt && log.log != nil && sweep.counts.earlier > 0 { older.append((dataAt, logAt)) }
                for (name, number) in sweep.counts.detected { counts[name, default: 0] += number }
                if dataAt == logAt { #expect(sweep.counts.exact == 1, "\(dataAt)") }
            }
        }
        print("damage, pairs of data file and log: \(counts.sorted { $0.key < $1.key })")
        for problem in problems.prefix(5) { Issue.record("\(problem)") }
        // A log that is newer than its data file has what the data file lacks, so no commit may be lost silently.
        #expect(older.isEmpty, "\(older.count) pairs lost commits that the log knows of: \(older.prefix(5))")
    }

    private static func withoutLog(_ image: FileImages.Image) -> FileImages.Image {
        var image = image
        image.log = nil
        return image
    }
}
