import StrataFiles
import Testing

@testable import StrataStorage

/// A log that remained after its recovery: the process died between writing the header slot and removing the log.
@Suite struct LeftLogTests {
    /// The first commit of a log, whole and torn, and the data file as a recovery from the torn one leaves it.
    private struct Life {
        let image: FileImages.Image
        let torn: [UInt8]
        let recovered: [UInt8]

        init(_ cipher: TestCipher?) throws {
            let start = LogFormat.start(ofHalf: 0, halfBytes: FileImages.options.logHalfBytes ?? 0)
            // The first two commits of a session are checkpoints, and so is a third one that bypasses the log: the loop
            // looks for a seed whose third commit is in the log.
            var found: FileImages.Image?
            for seed in 1...20 as ClosedRange<UInt64> where found == nil {
                let made = try FileImages.withLog(seed: seed, steps: 60, commits: 3, cipher)
                if let log = made.log, Array(log[start..<(start + 4)]) == Array("SGRP".utf8) { found = made }
            }
            image = try #require(found, "nothing was logged")
            var log = try #require(image.log)
            // As after a loss of power: the batch's header was written, a part of its payload was not.
            for byte in 0..<16 { log[start + LogFormat.batchHeaderSize + byte] ^= 0xFF }
            torn = log
            let disk = FileImages.Disk()
            try disk.put(image.data, at: FileImages.path)
            try disk.put(log, at: Store.logPath(FileImages.path))
            let store = try Store.open(path: FileImages.path, options: Self.options(disk, cipher))
            #expect(try StoreHistory.contents(store.snapshot().view) == image.states[2])
            try store.close()
            recovered = try #require(try disk.bytes(FileImages.path))
        }

        static func options(_ disk: FileImages.Disk, _ cipher: TestCipher?) -> StoreOptions {
            let options = FileImages.options(on: disk, cipher)
            return options
        }

        func open(_ log: [UInt8], _ cipher: TestCipher?, readOnly: Bool) throws -> StoreModel {
            let disk = FileImages.Disk()
            try disk.put(recovered, at: FileImages.path)
            try disk.put(log, at: Store.logPath(FileImages.path))
            var options = Self.options(disk, cipher)
            options.readOnly = readOnly
            let store = try Store.open(path: FileImages.path, options: options)
            try store.checkInvariants()
            let found = try StoreHistory.contents(store.snapshot().view)
            try store.close()
            if !readOnly { #expect(try disk.bytes(Store.logPath(FileImages.path)) == nil) }
            return found
        }
    }

    private static let ciphers = [nil, TestCipher(key: 3)] as [TestCipher?]

    @Test("a torn, unacknowledged commit does not prevent a repeated recovery")
    func torn() throws {
        for cipher in Self.ciphers {
            let life = try Life(cipher)
            for readOnly in [true, false] {
                #expect(try life.open(life.torn, cipher, readOnly: readOnly) == life.image.states[2])
            }
        }
    }

    @Test("a whole commit in the log proves that the slot which required the log is lost") func whole() throws {
        for cipher in Self.ciphers {
            let life = try Life(cipher)
            let log = try #require(life.image.log)
            for readOnly in [true, false] {
                let error = #expect(throws: StorageError.self) {
                    try life.open(log, cipher, readOnly: readOnly)
                }
                guard case .corrupt(_, 40, .header)? = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
    }
}
