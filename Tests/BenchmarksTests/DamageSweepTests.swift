import FaultModel
import Harness
import RunRecords
import Testing

@testable import SQLiteEngine
@testable import Scenarios

#if SQLite
    /// Damage with a known effect on SQLite, to check the classification of outcomes.
    @Suite struct DamageSweepTests {
        static func withSweep(
            shape: String, _ body: (_ sweep: DamageSweep, _ context: CaseContext) throws -> Void
        ) throws {
            try EnginesUnderTest.withDirectory { directory in
                let context = try CaseUnderTest.context(
                    BitFlip(), on: SQLiteEngine(), size: 100, parameters: ["shape": shape], in: directory)
                let sweep = try DamageSweep(context)
                defer { sweep.removeCopies() }
                try body(sweep, context)
            }
        }

        static func judge(_ sweep: DamageSweep, file index: Int, flip position: Int) throws -> Outcome {
            var bytes = sweep.files[index].bytes
            bytes[position] ^= 4
            return try sweep.judge(FaultAddress(.flip, position * 8 + 2), sweep.files[index].name, damaged: bytes)
                .outcome
        }

        static func position(of text: String, in bytes: [UInt8]) throws -> Int {
            let wanted = Array(text.utf8)
            return try #require(
                bytes.indices.dropLast(wanted.count).first { Array(bytes[$0..<($0 + wanted.count)]) == wanted })
        }

        @Test("undamaged files are correct, in every shape", arguments: ["clean", "log", "deleted", "compacted"])
        func undamaged(shape: String) throws {
            try Self.withSweep(shape: shape) { sweep, _ in
                #expect(sweep.files.map(\.name) == (shape == "log" ? ["data", "data-wal"] : ["data"]))
                let first = sweep.files[0]
                let trial = try sweep.judge(FaultAddress(.flip, 0), first.name, damaged: first.bytes)
                #expect(trial.outcome == .correct, "\(trial.detail)")
            }
        }

        @Test("a page of an older copy gives no value of the final state, and a whole older file is lost commits")
        func older() throws {
            try EnginesUnderTest.withDirectory { directory in
                let context = try CaseUnderTest.context(StalePage(), on: SQLiteEngine(), size: 500, in: directory)
                let sweep = try DamageSweep(context, keepsOlder: true)
                defer { sweep.removeCopies() }
                let older = try #require(sweep.older).files[0].bytes
                let stale = sweep.damagesWithHeads(.age, count: 0, random: "all")
                #expect(stale.count > 3 && Set(stale).count == stale.count)
                let trial = try sweep.judge(FaultAddress(.age, 0), sweep.files[0].name, damaged: older)
                #expect(trial.outcome == .lostCommit && trial.detail.contains("the last 3"), "\(trial)")
                let change = try #require(sweep.change(at: FaultAddress(text: "\(stale[stale.count / 2])")))
                let mixed = try sweep.judge(
                    FaultAddress(.age, 0), sweep.files[0].name, damaged: change.applied(to: sweep.files[0].bytes))
                #expect(mixed.outcome != .correct && mixed.outcome != .lostCommit, "\(mixed)")
            }
        }

        @Test("the first pages of a file are always among the swapped ones, and each trial has one spelling")
        func heads() throws {
            try Self.withSweep(shape: "clean") { sweep, _ in
                for kind in [FileDamage.Kind.swap, .misdirect] {
                    let damages = sweep.damagesWithHeads(kind, count: 2, random: "two")
                    #expect(damages.contains(FileDamage(kind, 0, 4_096)))
                    #expect(damages.contains(FileDamage(kind, 0, 8_192)))
                    #expect(damages.contains(FileDamage(kind, 4_096, 0)) == (kind == .misdirect))
                    #expect(Set(damages).count == damages.count && damages.count <= 8)
                }
                let swapped = FaultAddress(.swap, 4_096, 8_192)
                #expect(sweep.place(of: swapped) == "file data, page 1, offset 0, in turn with page 2")
                let misdirected = FaultAddress(.misdirect, 8_192, 4_096)
                #expect(sweep.place(of: misdirected) == "file data, page 1, offset 0, written over with page 2")
            }
        }

        @Test("a bit in a text is silently wrong, one in the magic is detected at open")
        func clean() throws {
            try Self.withSweep(shape: "clean") { sweep, _ in
                let text = try Self.position(of: "person-00042", in: sweep.files[0].bytes)
                #expect(try Self.judge(sweep, file: 0, flip: text + 9) == .silentlyWrong)
                #expect(try Self.judge(sweep, file: 0, flip: 3) == .detectedAtOpen)
            }
        }

        @Test("a broken last frame of the log is fell-back, a broken first one is lost-commit")
        func log() throws {
            try Self.withSweep(shape: "log") { sweep, _ in
                let log = sweep.files[1].bytes.count
                let last = try Self.judge(sweep, file: 1, flip: log - 100)
                #expect(last == .fellBack)
                let first = try Self.judge(sweep, file: 1, flip: 32 + 24 + 100)
                #expect(first == .lostCommit)
            }
        }

        @Test("a truncated file is never taken for whole")
        func cut() throws {
            try Self.withSweep(shape: "clean") { sweep, _ in
                let file = sweep.files[0]
                for length in [0, 1, 4_096, file.bytes.count / 2] {
                    let trial = try sweep.judge(
                        FaultAddress(.cut, length), file.name, damaged: Array(file.bytes.prefix(length)))
                    #expect(
                        [.detectedAtOpen, .detectedAtRead, .refused].contains(trial.outcome), "\(length): \(trial)")
                }
            }
        }

        @Test("an address is a place in a file")
        func places() throws {
            try Self.withSweep(shape: "log") { sweep, _ in
                let log = sweep.files[1].start
                #expect(sweep.place(of: FaultAddress(.flip, 8 * 4_096 + 9)) == "file data, page 1, offset 1")
                #expect(sweep.place(of: FaultAddress(.zero, 8_192)) == "file data, page 2, offset 0")
                #expect(sweep.place(of: FaultAddress(.cut, log + 5_000)) == "file data-wal, page 1, offset 904")
            }
        }

        @Test("positions are distinct, ascending, in equal shares per file, and equal for one seed")
        func positions() throws {
            try Self.withSweep(shape: "log") { sweep, context in
                var random = context.random("bits")
                let first = sweep.damaged.positions(count: 100, scale: 8, random: &random)
                var again = context.random("bits")
                #expect(sweep.damaged.positions(count: 100, scale: 8, random: &again) == first)
                #expect(first == first.sorted())
                #expect(Set(first).count == 100)
                #expect(first.count { $0 < sweep.files[1].start * 8 } == 50)
                let all = sweep.damaged.positions(count: 0, scale: 8, random: &random)
                #expect(all.count == sweep.files.reduce(0) { $0 + $1.bytes.count } * 8)
            }
        }
    }
#endif
