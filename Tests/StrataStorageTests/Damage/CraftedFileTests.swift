import Platform
import StrataFiles
import Testing

@testable import StrataStorage

/// Files with valid checksums and wrong contents.
///
/// Each trial changes bytes of nodes or slots, recomputes all checksums, and then opens the store, reads everything in
/// every way, checks it and writes to it. Anything but an error is a crash of the child process. `CRAFTED_SEED` and
/// `CRAFTED_TRIALS` repeat one trial, or run many.
@Suite struct CraftedFileTests {
    @Test("damage with valid checksums is an error, never a crash or a hang")
    func believed() async {
        let first = TestSettings.number("CRAFTED_SEED") ?? 1
        let count = TestSettings.number("CRAFTED_TRIALS") ?? UInt64(TestSettings.trials(600, of: 4000))
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [first = first as UInt64, count = count as UInt64] in
            try Self.trials(first: first, count: count)
        }
        if let result, result.exitStatus != .exitCode(0) {
            let text = String(decoding: result.standardErrorContent, as: UTF8.self)
            Issue.record("repeat with CRAFTED_SEED=<last seed below> CRAFTED_TRIALS=1\n\(text.suffix(400))")
        }
    }

    /// Small stores as the base of trials.
    static func soundFiles() throws -> [CraftedFile] {
        var files: [CraftedFile] = []
        for (seed, steps) in [(1, 40), (2, 150), (3, 400)] as [(UInt64, Int)] {
            files.append(CraftedFile(try FileImages.clean(seed: seed, steps: steps).data))
        }
        files.append(try CheckedStore.make())
        return files
    }

    static func trials(first: UInt64, count: UInt64) throws {
        let files = try soundFiles()
        var sound = 0
        for seed in first..<(first &+ count) {
            TestSettings.say("seed \(seed)")
            // A hang ends the process.
            alarm(60)
            var file = files[Int(seed % UInt64(files.count))]
            change(&file, seed)
            let disk = FileImages.Disk(isPersistent: seed % 2 == 0)
            try disk.put(file.bytes, at: FileImages.path)
            let options = FileImages.options(on: disk)
            let exercise = StoreExercise(seed: seed)
            exercise.run(options, path: FileImages.path)
            sound += exercise.soundStores
        }
        TestSettings.say("\(count) trials, \(sound) sound by the check")
        // Only stores that the check calls sound are read in every way.
        if count >= 100 { precondition(sound > 0, "no store was sound") }
    }

    static func change(_ file: inout CraftedFile, _ seed: UInt64) {
        var mutation = Mutation(random: SplitMix64(seed: seed))
        switch mutation.random.below(20) {
        case 0:
            let slot = Int(mutation.random.below(2))
            file.changeSlot(slot) { mutation.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[8...])) }
        case 1..<4:
            for _ in 0...mutation.random.below(2) { file.alias(&mutation.random) }
        default:
            for _ in 0...mutation.random.below(2) {
                file.change(Int(mutation.random.below(UInt64(file.nodes.count)))) { mutation.apply(to: $0) }
            }
        }
    }

    @Test("a branch with one child many times does not cause an endless walk")
    func sharedChildren() throws {
        var file = CraftedFile(try FileImages.clean(seed: 3, steps: 400).data)
        let branch = try #require(
            file.nodes.firstIndex { node in
                node.reference.is(.branch) && file.bytes[node.start + 26] > 1
            })
        file.change(branch) { bytes in
            let first = Branch.referencesOffset - Format.nodeHeaderSize
            for child in 1..<Int(bytes[0]) {
                for index in 0..<NodeReference.size {
                    bytes[first + child * NodeReference.size + index] = bytes[first + index]
                }
            }
        }
        let disk = FileImages.Disk()
        try disk.put(file.bytes, at: FileImages.path)
        let store = try FileImages.open(disk)
        let view = try store.snapshot().view
        var failed = 0
        for table in view.schema.tables.indices {
            do { _ = try view.keys(table) } catch { failed += 1 }
        }
        #expect(failed == 1)
    }

    /// Both references name the same page with the same checksum, so the second one was once accepted without a check.
    @Test("a node that verified as one kind is not accepted as another")
    func twoKinds() throws {
        var file = CraftedFile(try FileImages.clean(seed: 3, steps: 400).data)
        let value = try #require(file.nodes.first { $0.reference.is(.value) }).reference
        let leaf = try #require(file.nodes.first { $0.reference.is(.group) && !$0.places.isEmpty })
        let disk = FileImages.Disk()
        try disk.put(file.bytes, at: FileImages.path)
        let store = try FileImages.open(disk)
        _ = try store.reader.node(value, .value)
        var other = value
        other.kindCode = NodeKind.group.rawValue
        #expect(throws: StorageError.self) { try store.reader.node(other, .group) }
        other = leaf.reference
        _ = try store.reader.node(other, .group)
        other.pages += 1
        #expect(throws: StorageError.self) { try store.reader.node(other, .group) }
        file.resealSlot(0)
    }
}
