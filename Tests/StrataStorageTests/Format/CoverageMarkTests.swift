import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Testing

@testable import StrataStorage

/// Rare branches of the code that only damage, a full disk or a read-only open reaches, and simulated crashes never do.
@Suite(.enabled(if: CoverageMarks.areCounted))
struct CoverageMarkTests {
    private func options(_ image: FileImages.Image, readOnly: Bool = false) throws -> StoreOptions {
        var options = try FileImages.options(on: FileImages.Disk(image))
        options.readOnly = readOnly
        return options
    }

    /// Other tests may hit the mark at the same time, so only whether it was hit is checked.
    private func expectMet(_ marks: CoverageMark...) {
        for mark in marks { #expect(CoverageMarks.hits[mark] != nil, "\(mark)") }
    }

    private func open(_ image: FileImages.Image, readOnly: Bool = false) throws -> StoreModel {
        let store = try Store.open(path: FileImages.path, options: options(image, readOnly: readOnly))
        defer { do { try store.close() } catch {} }
        return try StoreHistory.contents(store.snapshot().view)
    }

    @Test("a flipped bit of the last batch is repaired") func mendedBit() throws {
        var image = try FileImages.withLog(seed: 4, steps: 30)
        image.log?[image.lastGroup + LogFormat.batchHeaderSize + 5] ^= 4
        #expect(try open(image) == image.model)
        expectMet(.mendedBit, .replayed)
    }

    @Test("damage in a batch before others is a lost record, and in the last one a torn end") func lostGroups()
        throws
    {
        let whole = try FileImages.withLog(seed: 4, steps: 30)
        var image = whole
        for byte in 8..<40 { image.log?[Format.pageSize + LogFormat.batchHeaderSize + byte] ^= 0x55 }
        #expect(throws: StorageError.self) { try open(image) }
        expectMet(.lostRecord)
        image = whole
        for byte in 0..<8 { image.log?[image.lastGroup + LogFormat.batchHeaderSize + byte] ^= 0x55 }
        #expect(try image.states.contains(open(image)))
        expectMet(.tornBatch)
    }

    @Test("a read-only open replays the log in memory") func inMemory() throws {
        let image = try FileImages.withLog(seed: 4, steps: 30)
        #expect(try open(image, readOnly: true) == image.model)
        expectMet(.replayedInMemory)
    }

    @Test("an unfinished checkpoint leaves batches in both halves") func bothSegments() throws {
        let image = try FileImages.midCheckpoint(seed: 4, steps: 30)
        #expect(try open(image) == image.model)
        expectMet(.secondHalf)
    }

    @Test("a step of growth is reduced if the disk lacks room") func smallerGrowth() throws {
        var options = FileImages.options(on: SimulatedDisk(SimulatedDisk.Settings(seed: Seed(1), capacity: 100 * 4096)))
        options.growth = .fixed(1 << 20)
        let store = try Store.open(path: FileImages.path, options: options)
        let transaction = try store.beginWrite()
        try transaction.apply(schema: StoreHistory.schema)
        try transaction.commit()
        try store.close()
        expectMet(.smallerGrowth)
    }
}
