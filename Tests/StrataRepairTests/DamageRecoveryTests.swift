import StrataFiles
import Synchronization
import Testing

@testable import StrataRepair
@testable import StrataStorage
@testable import StrataStorageTests

@Suite struct DamageRecoveryTests {
    private final class Reports: Sendable {
        private let all = Mutex<[DamageReport]>([])
        func append(_ report: DamageReport) { all.withLock { $0.append(report) } }
        var reports: [DamageReport] { all.withLock { $0 } }
    }

    private func open(
        _ disk: FileImages.Disk, _ policy: DamagePolicy, _ reports: Reports, _ cipher: (any Cipher)? = nil
    ) throws -> Store {
        let options = FileImages.options(on: disk, cipher)
        return try Repair.open(path: FileImages.path, options: options, onDamage: policy) { reports.append($0) }
    }

    /// A commit in the middle of the log fails its checksum, though later batches prove that it was durable.
    private func damagedLog() throws -> (image: FileImages.Image, good: FileImages.Image) {
        let good = try FileImages.withLog(seed: 4, steps: 60, commits: 8)
        var image = good
        let last = good.lastGroup
        // Searches backwards for the batch before the last one.
        var place = last - LogFormat.batchHeaderSize
        while let log = image.log, log[place..<(place + 4)] != [0x53, 0x47, 0x52, 0x50] {
            place -= LogFormat.batchHeaderSize
        }
        for byte in (place + 64)..<(place + 72) { image.log?[byte] ^= 0x55 }
        return (image, good)
    }

    @Test("the default policy throws and changes nothing") func fail() throws {
        let (image, _) = try damagedLog()
        let disk = try FileImages.Disk(image)
        let reports = Reports()
        #expect(throws: StorageError.self) { try open(disk, .fail, reports) }
        #expect(try disk.bytes(FileImages.path) == image.data)
        #expect(try disk.bytes(FileImages.path + ".log") == image.log)
        #expect(reports.reports.isEmpty)
    }

    @Test("the last good version before the damage in the log is found") func lastGoodInLog() throws {
        let (image, good) = try damagedLog()
        let disk = try FileImages.Disk(image)
        let reports = Reports()
        let store = try open(disk, .lastGoodVersion, reports)
        try store.checkInvariants()
        let found = try StoreHistory.contents(store.snapshot().view)
        #expect(found == good.states[6])
        let report = try #require(reports.reports.first)
        guard case .wentBack(let version, let newest) = report.outcome else {
            Issue.record("\(report)")
            return
        }
        #expect(version == TransactionID(6) && newest == TransactionID(8))
        #expect(store.newestVersion == version)
        #expect(report.error.isDamage && report.unreadableBytes == 0)
        #expect(try disk.bytes(report.keptPath) == image.data)
        #expect(try disk.bytes(try #require(report.keptLogPath)) == image.log)
        #expect(report.keptPath == FileImages.path + ".damaged-1")
        var history = StoreHistory(seed: 99)
        history.model = found
        let transaction = try store.beginWrite()
        for _ in 0..<20 { try history.step(transaction) }
        try transaction.commit()
        try store.close()
        let again = try open(disk, .fail, reports)
        #expect(try StoreHistory.contents(again.snapshot().view) == history.model)
        try again.close()
    }

    @Test("a lost log costs only its versions") func missingLog() throws {
        var image = try FileImages.withLog(seed: 4, steps: 60, commits: 8)
        image.log = nil
        let disk = try FileImages.Disk(image)
        let reports = Reports()
        let store = try open(disk, .lastGoodVersion, reports)
        let found = try StoreHistory.contents(store.snapshot().view)
        let version = Int(store.newestVersion.rawValue)
        #expect(version >= 2 && found == image.states[version])
        #expect(reports.reports.first?.error == .logMissing(path: FileImages.path + ".log"))
        try store.close()
    }

    @Test("if no version verifies, going back throws and changes nothing") func nothingVerifies() throws {
        var image = try FileImages.clean(seed: 4, steps: 200)
        let root = try #require(CraftedFile(image.data).nodes.first)
        for byte in 0..<64 { image.data[root.start + byte] = 0 }
        let disk = try FileImages.Disk(image)
        let reports = Reports()
        #expect(throws: StorageError.self) { try open(disk, .lastGoodVersion, reports) }
        #expect(try disk.bytes(FileImages.path) == image.data)
        #expect(try disk.status(FileImages.path + ".mending") == nil)
        #expect(try disk.status(FileImages.path + ".damaged-1") == nil)
        #expect(reports.reports.isEmpty)
    }

    @Test("salvage copies everything that verifies and reports the losses") func salvage() throws {
        var image = try FileImages.clean(seed: 4, steps: 200)
        let file = CraftedFile(image.data)
        let root = try #require(file.nodes.first { $0.reference.is(.root) })
        for byte in 0..<64 { image.data[root.start + byte] ^= 0x40 }
        let disk = try FileImages.Disk(image)
        let reports = Reports()
        let store = try open(disk, .salvage, reports)
        try store.checkInvariants()
        guard case .salvaged(let report) = try #require(reports.reports.first).outcome else {
            Issue.record("\(reports.reports)")
            return
        }
        let found = try StoreHistory.contents(store.snapshot().view)
        let rows = found.tables.reduce(0) { $0 + $1.count }
        #expect(report.rowsRecovered == rows && rows > 0)
        #expect(try disk.bytes(FileImages.path + ".damaged-1") == image.data)
        try store.close()
    }

    @Test("starting afresh keeps every damaged file under its own number") func startAfresh() throws {
        let image = try FileImages.clean(seed: 4, steps: 60)
        let disk = try FileImages.Disk(image)
        let reports = Reports()
        for number in 1...3 {
            let file = try disk.open(FileImages.path, .write)
            try [UInt8](repeating: 1, count: 100).withUnsafeBytes { bytes in
                for slot in 0..<2 { try file.write(bytes, at: Int64(slot * 4096 + 16)) }
            }
            file.close()
            let damaged = try disk.bytes(FileImages.path)
            let store = try open(disk, .startAfresh, reports)
            #expect(store.newestVersion == TransactionID(0))
            try store.close()
            #expect(try disk.bytes("\(FileImages.path).damaged-\(number)") == damaged)
            #expect(reports.reports.count == number)
        }
        guard case .startedAfresh(let newest) = reports.reports[0].outcome else { return }
        #expect(newest == TransactionID(0))
    }

    /// The key was once given to the open, but not to the recovery, which then lacked it.
    @Test("an encrypted store is recovered with the key of the open", arguments: DamagePolicy.allCases)
    func encrypted(policy: DamagePolicy) throws {
        let key = TestCipher(key: 5)
        var image = try FileImages.withLog(seed: 4, steps: 200, commits: 8, key)
        image.log = nil
        let disk = try FileImages.Disk(image)
        let reports = Reports()
        if policy == .fail {
            #expect(throws: StorageError.logMissing(path: FileImages.path + ".log")) {
                try open(disk, policy, reports, key)
            }
            return
        }
        let store = try open(disk, policy, reports, key)
        try store.checkInvariants()
        let found = try StoreHistory.contents(store.snapshot().view)
        try store.close()
        let again = try open(disk, .fail, reports, key)
        #expect(try StoreHistory.contents(again.snapshot().view) == found)
        try again.close()
        #expect(try disk.bytes(FileImages.path + ".damaged-1") == image.data)
        #expect(throws: StorageError.self, "it is sealed as before") { try open(disk, .fail, reports) }
        switch try #require(reports.reports.first).outcome {
        case .wentBack(let version, _):
            #expect(policy == .lastGoodVersion && found == image.states[Int(version.rawValue)])
        case .salvaged(let report):
            #expect(policy == .salvage && report.rowsRecovered == found.tables.reduce(0) { $0 + $1.count })
        case .startedAfresh: #expect(policy == .startAfresh)
        }
    }

    @Test(
        "a file of another program or version is never damage", arguments: DamagePolicy.allCases,
        ForeignFileTests.Foreign.allCases)
    func foreign(policy: DamagePolicy, foreign: ForeignFileTests.Foreign) throws {
        let disk = FileImages.Disk()
        let bytes = try foreign.bytes()
        try disk.put(bytes, at: FileImages.path)
        #expect(throws: foreign.expected(FileImages.path)) { try open(disk, policy, Reports()) }
        #expect(try disk.bytes(FileImages.path) == bytes)
        #expect(try disk.status(FileImages.path + ".damaged-1") == nil)
    }

    @Test("a store open in another process is left alone") func inUse() throws {
        let (image, _) = try damagedLog()
        let disk = try FileImages.Disk(image)
        let file = try disk.open(FileImages.path, .write)
        #expect(try file.tryLock(byte: LockByte.open, exclusive: true))
        #expect(throws: StorageError.inUse(path: FileImages.path)) { try open(disk, .startAfresh, Reports()) }
        let options = FileImages.options(on: disk)
        #expect(throws: StorageError.inUse(path: FileImages.path)) {
            try Repair.mend(
                path: FileImages.path, options: options, policy: .startAfresh, of: file.status(),
                because: .logMissing(path: ""))
        }
        file.close()
    }

    @Test("a repaired store, and the damaged one that is kept, have the permissions of the original")
    func rights() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/store"
        let rights = try FileRightsTests.makeStore(path, mode: 0o600)
        try POSIXFileSystem().open(path, .write).truncate(to: 5_000)
        let store = try Repair.open(path: path, options: StoreOptions(), onDamage: .startAfresh)
        try store.close()
        #expect(try FileRightsTests.Rights(path) == rights)
        #expect(try FileRightsTests.Rights(path + ".damaged-1") == rights)
    }
}
