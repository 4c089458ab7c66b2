import StrataFiles
import StrataRepair
import Testing

@testable import StrataStorage
@testable import StrataStorageTests

/// Logs that a salvage reads more than once, or that an open refuses.
@Suite struct SalvageLogTests {
    /// The batches of a log from an LSN on, by offset.
    private static func batches(
        _ log: [UInt8], from lsn: UInt64, half: Int
    ) throws -> [(start: Int, batch: LogReplay.Batch)] {
        var copy = log
        return try copy.withUnsafeMutableBytes { bytes in
            let base = try #require(bytes.baseAddress)
            guard case .valid(let header) = LogHeader.decode(base) else { return [] }
            let replay = try LogReplay(base, header: header, path: "", fromHalf: half, firstLSN: lsn)
            return replay.batches.map { ($0.payloadOffset - LogFormat.batchHeaderSize, $0) }
        }
    }

    private static func salvage(
        _ data: [UInt8], _ log: [UInt8], _ kind: OlderLogTests.Kind
    ) throws -> (report: SalvageReport, contents: StoreModel) {
        var settings = SalvageOptions()
        settings.cipher = kind == .encrypted ? TestCipher(key: 3) : nil
        let salvaged = try SalvagedStore.from(data, log: log, settings: settings) { view, _ in
            try StoreHistory.contents(view)
        }
        return (salvaged.report, salvaged.found)
    }

    /// Without a slot a salvage starts with the older half, and decrypts its payloads in place. If damage in the newer
    /// half ended that, it once started over, and found nothing to decrypt.
    @Test(
        "without slots, a log damaged in its newer half is replayed up to the damage",
        arguments: OlderLogTests.Kind.allCases)
    func damagedNewerHalf(kind: OlderLogTests.Kind) throws {
        let life = try OlderLogTests.Life(kind, .full, behind: 5)
        var data = life.data
        for slot in [0, Format.pageSize] { for byte in 0..<Format.slotSize { data[slot + byte] = 0 } }
        var log = try #require(life.copies.last).log
        let checkpoint = life.checkpoints[1]
        let batches = try Self.batches(log, from: checkpoint + 1, half: Int(life.slot.logHalf))
        #expect(batches.count == 5)
        for byte in 0..<8 { log[batches[3].start + LogFormat.batchHeaderSize + byte] ^= 0x5A }
        let (report, contents) = try Self.salvage(data, log, kind)
        let last = batches[2].batch.lastLSN
        #expect(report.log == .partly(through: TransactionID(last)))
        #expect(contents == life.copies.first { $0.version == last }?.model)
    }

    @Test(
        "without proof of the log's end, everything up to the checkpoint is salvaged",
        arguments: OlderLogTests.Kind.allCases, [DamagePolicy.lastGoodVersion, .salvage])
    func damagedReach(kind: OlderLogTests.Kind, policy: DamagePolicy) throws {
        let life = try OlderLogTests.Life(kind, .full, behind: 0)
        var log = try #require(life.copies.last).log
        let before = try #require(life.copies.dropLast().last).log
        // Damages the bytes that the last commit before the checkpoint wrote.
        let last = zip(before, log).enumerated().filter { $1.0 != $1.1 }.map(\.offset)
        for byte in last { log[byte] ^= 0xFF }
        let disk = FileImages.Disk()
        try disk.put(life.data, at: FileImages.path)
        try disk.put(log, at: Store.logPath(FileImages.path))
        let options = FileImages.options(on: disk, kind == .encrypted ? TestCipher(key: 3) : nil)
        var told: DamageReport?
        let store = try Repair.open(path: FileImages.path, options: options, onDamage: policy) { told = $0 }
        #expect(told?.error == .logOutdated(path: Store.logPath(FileImages.path)))
        #expect(try StoreHistory.contents(store.snapshot().view) == life.newest)
        try store.close()
    }
}
