import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// Changing a key once required the application to replace the file by a copy, and to clean up after a crash in
/// between.
@Suite(.serialized)
struct KeyChangeTests {
    private static let path = "folder/store"
    private static let expected = Array(Int64(0)..<120)
    private static let old = TestCipher(key: 1)
    private static let new = TestCipher(key: 2)

    private static func options(_ fileSystem: any FileSystem, _ cipher: (any Cipher)?) -> StoreOptions {
        var options = StoreOptions(fileSystem: fileSystem)
        options.mapReserve = 1 << 24
        options.logHalfBytes = 16 << 10
        options.cipher = cipher
        return options
    }

    /// - Parameter isLeft: whether the process dies with commits in the log.
    private static func makeImage(_ cipher: (any Cipher)?, isLeft: Bool) throws -> DiskImage {
        let disk = SimulatedDisk(seed: Seed(21))
        let store = try Store.open(path: path, options: options(disk, cipher))
        try PlainTable.setUp(store)
        for first in stride(from: Int64(0), to: 120, by: 30) { try PlainTable.insert(store, first..<(first + 30)) }
        if isLeft { return disk.kill(after: disk.operations).image }
        try store.close()
        return disk.image
    }

    private static func disk(_ image: DiskImage) -> SimulatedDisk {
        SimulatedDisk(SimulatedDisk.Settings(seed: Seed(22)), image: image)
    }

    /// Opens the file with the old and with the new key; exactly one of them has to fit.
    private static func judge(
        _ disk: SimulatedDisk, _ old: (any Cipher)?, _ new: (any Cipher)?, _ what: String
    ) -> Bool? {
        var found: [Bool] = []
        for (isNew, cipher) in [(false, old), (true, new)] {
            do {
                let store = try Store.open(path: path, options: options(disk, cipher))
                #expect(try PlainTable.keys(store.snapshot().view) == expected, "\(what)")
                try store.checkInvariants()
                try PlainTable.insert(store, [500])
                try PlainTable.delete(store, [500])
                try store.close()
                #expect(try disk.status(OfflineCompaction.unfinishedPath(path)) == nil, "\(what)")
                found.append(isNew)
            } catch let error as StorageError {
                switch error {
                case .wrongKey, .keyRequired, .notEncrypted: continue
                default: Issue.record("\(what): \(error)")
                }
            } catch {
                Issue.record("\(what): \(error)")
            }
        }
        #expect(found.count == 1, "\(what): opens \(found.count) times")
        return found.first
    }

    /// The old and the new key of the file, and whether it needs its log.
    enum Change: CaseIterable {
        case another, first, none, beforeReplay

        fileprivate var ciphers: (old: (any Cipher)?, new: (any Cipher)?) {
            switch self {
            case .another, .beforeReplay: (KeyChangeTests.old, KeyChangeTests.new)
            case .first: (nil, KeyChangeTests.new)
            case .none: (KeyChangeTests.old, nil)
            }
        }
    }

    @Test(
        "killed at any step, or without power, the file has the old key or the new one, and all of its rows",
        arguments: Change.allCases)
    func everyStep(change: Change) throws {
        let (old, new) = change.ciphers
        let image = try Self.makeImage(old, isLeft: change == .beforeReplay)
        let disk = Self.disk(image)
        let before = disk.operations
        try Store.changeKey(path: Self.path, options: Self.options(disk, old), to: new)
        let end = disk.operations
        #expect(Self.judge(disk.kill(after: end), old, new, "done") == true)
        var rules = CrashRules()
        rules.exhaustiveUnits = 3
        rules.sampleCount = 3
        rules.pairLimit = 1
        rules.cutLimit = 1
        var sweep = disk.sweep(rules)
        var (olds, news) = (0, 0)
        func count(_ isNew: Bool?) {
            if isNew == true { news += 1 }
            if isNew == false { olds += 1 }
        }
        for operation in before...end {
            _ = sweep.visit(points: operation..<(operation + 1)) { state in
                count(Self.judge(disk.crash(state), old, new, "power at \(state.address)"))
                return true
            }
            count(Self.judge(disk.kill(after: operation), old, new, "killed after \(operation)"))
        }
        #expect(olds > 10 && news > 0, "\(olds) old, \(news) new")
    }

    @Test("where the disk is full, or fails, the file keeps its key") func failing() throws {
        let image = try Self.makeImage(Self.old, isLeft: false)
        let clean = Self.disk(image)
        try Store.changeKey(path: Self.path, options: Self.options(clean, Self.old), to: Self.new)
        for operation in 0..<clean.operations {
            for effect in [Fault.Effect.inputOutputError, .noSpace] {
                let fault = Fault(effect, at: .operation(operation), isLasting: true)
                let disk = SimulatedDisk(SimulatedDisk.Settings(seed: Seed(23), faults: [fault]), image: image)
                var hasFailed = false
                do {
                    try Store.changeKey(path: Self.path, options: Self.options(disk, Self.old), to: Self.new)
                } catch {
                    hasFailed = true
                }
                let isNew = Self.judge(
                    disk.kill(healthy: true), Self.old, Self.new, "\(effect) at \(operation)")
                #expect(isNew == true || hasFailed, "the old key stays, and nothing is said")
            }
        }
    }
}
