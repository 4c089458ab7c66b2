import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Another program overwrites an open data file in place, with older copies, parts of them, or junk.
///
/// The rows are lost then, but reads and writes throw, and the process survives. `OVERWRITE_SEED` and
/// `OVERWRITE_TRIALS` repeat one trial, or run many.
@Suite struct OverwrittenFileTests {
    @Test("a file that is overwritten while in use gives errors, never a crash or a hang")
    func overwritten() async {
        let first = TestSettings.number("OVERWRITE_SEED") ?? 1
        let count = TestSettings.number("OVERWRITE_TRIALS") ?? 40
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [first = first as UInt64, count = count as UInt64] in
            for seed in first..<(first &+ count) {
                TestSettings.say("seed \(seed)")
                // A hang ends the process.
                alarm(60)
                try OverwrittenStore(seed: seed).run()
            }
        }
        if let result, result.exitStatus != .exitCode(0) {
            let text = String(decoding: result.standardErrorContent, as: UTF8.self)
            Issue.record("repeat with OVERWRITE_SEED=<last seed below> OVERWRITE_TRIALS=1\n\(text.suffix(600))")
        }
    }
}

/// A store with a writer and two readers, whose file is overwritten.
final class OverwrittenStore: @unchecked Sendable {  // Immutable; the directory is only held.
    private let seed: UInt64
    private let directory: TemporaryDirectory
    private let store: Store
    /// The file as it was after some commits.
    private let copies: [[UInt8]]

    private var path: String { directory.path + "/store" }

    init(seed: UInt64) throws {
        self.seed = seed
        directory = try TemporaryDirectory()
        var options = StoreOptions(durability: .none)
        if seed % 2 == 0 { options.limits = .tiny }
        options.mapReserve = 1 << 28
        let path = directory.path + "/store"
        store = try Store.open(path: path, options: options)
        var history = StoreHistory(seed: seed)
        history.keyRange = 2000
        var copies: [[UInt8]] = []
        for number in 0..<6 {
            let transaction = try store.beginWrite()
            if number == 0 { try transaction.apply(schema: StoreHistory.schema) }
            for _ in 0..<(number == 0 ? 600 : 60) { try history.step(transaction) }
            try transaction.commit()
            copies.append(try FileImages.contents(of: path))
        }
        self.copies = copies
    }

    func run() throws {
        try StoreThreadTests.run(4) { [self] number in
            switch number {
            case 0: for round in 0..<60 { write(UInt64(round)) }
            case 1, 2: for round in 0..<30 { read(UInt64(round) &+ UInt64(number) << 32) }
            default: overwriteOften()
            }
        }
        attempt { try store.close() }
    }

    private func attempt(_ body: () throws -> Void) {
        // Any error is allowed for a damaged store.
        do { try body() } catch { _ = error }
    }

    private func write(_ round: UInt64) {
        StoreExercise(seed: seed &+ round).write(store)
    }

    private func read(_ round: UInt64) {
        attempt { StoreExercise(seed: seed &+ round).read(try store.snapshot().view) }
        attempt { _ = try store.snapshot().view.keys(0, where: .integer(0, 0...50)) }
    }

    private func overwriteOften() {
        var random = SplitMix64(seed: seed)
        for _ in 0..<30 {
            attempt { try overwrite(&random) }
            usleep(UInt32(random.below(2000)))
        }
    }

    private func overwrite(_ random: inout SplitMix64) throws {
        let file = try POSIXFileSystem().open(path, .createOrOpen)
        defer { file.close() }
        let copy = copies[Int(random.below(UInt64(copies.count)))]
        switch random.below(6) {
        case 0, 1: try copy.withUnsafeBytes { try file.write($0, at: 0) }
        case 2:
            // As `cp` does: truncates, then rewrites.
            if random.below(4) == 0 { try file.truncate(to: 0) }
            try copy.withUnsafeBytes { try file.write($0, at: 0) }
        case 3:
            let junk = (0..<512).map { _ in random.next() }
            let page = 2 + Int64(random.below(UInt64(copy.count / Format.pageSize)))
            try junk.withUnsafeBytes { try file.write($0, at: page * 4096) }
        default:
            let pages = copy.count / Format.pageSize
            for _ in 0..<20 {
                let from = Int(random.below(UInt64(pages))) * Format.pageSize
                let to = Int64(random.below(UInt64(pages))) * 4096
                try copy[from..<(from + Format.pageSize)].withUnsafeBytes { try file.write($0, at: to) }
            }
        }
    }
}
