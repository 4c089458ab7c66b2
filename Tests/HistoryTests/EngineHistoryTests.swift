import Foundation
import Harness
import History
import LMDBEngine
import Measuring
import ModelEngine
import RunRecords
import SQLiteEngine
import Scenarios
import Seeds
import StrataEngine
import Testing

/// Short histories of real engines, by threads of this process. `ASSAY_HISTORIES` sets their number, 12 by default.
@Suite(.serialized)
struct EngineHistoryTests {
    private static var engines: [any Engine] {
        var engines: [any Engine] = [StorageEngine(), StrataEngine(), ModelEngine()]
        #if SQLite
            engines.append(SQLiteEngine())
        #endif
        #if LMDB
            engines.append(LMDBEngine())
        #endif
        return engines
    }

    private static var count: Int {
        ProcessInfo.processInfo.environment["ASSAY_HISTORIES"].flatMap { Int($0) } ?? 12
    }

    /// A database with cells, and two sessions on it.
    private func withSessions(
        _ name: String, _ body: (any TransactionSession, any TransactionSession) throws -> Void
    ) throws {
        let engine = try #require(Self.engines.first { $0.name == name })
        let settings = engine.settings(for: .none)
        let directory = FileManager.default.temporaryDirectory.path + "/history-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record("\(error)") }
        }
        let location = DatabaseLocation(directory: directory)
        let loader = try #require(try engine.open(location, settings: settings) as? any TableSession)
        try loader.load(TransactionCells.tables(count: 4))
        try loader.close()
        let first = try #require(try engine.open(location, settings: settings) as? any TransactionSession)
        let second = try #require(try engine.open(location, settings: settings) as? any TransactionSession)
        try body(first, second)
        try first.close()
        try second.close()
    }

    @Test(
        "a write is visible to the writer at once, to others after the commit", arguments: engines.map(\.name))
    func commit(name: String) throws {
        try withSessions(name) { writer, reader in
            try writer.begin(.writing)
            try writer.write(1, 42)
            for element in 1...300 { try writer.append(1, Int64(element)) }
            #expect(try writer.read(1) == 42)
            #expect(try writer.readList(1) == Array(1...300))
            try writer.commit()
            try reader.begin(.reading)
            #expect(try reader.read(1) == 42)
            #expect(try reader.readList(1) == Array(1...300))
            #expect(try reader.read(0) == 0)
            #expect(try reader.readList(2).isEmpty)
            try reader.commit()
        }
    }

    @Test("a rolled-back write is never visible", arguments: engines.map(\.name))
    func rollback(name: String) throws {
        try withSessions(name) { writer, reader in
            try writer.begin(.writing)
            try writer.write(3, 7)
            try writer.append(3, 8)
            try writer.rollback()
            for session in [writer, reader] {
                try session.begin(.reading)
                #expect(try session.read(3) == 0)
                #expect(try session.readList(3).isEmpty)
                try session.commit()
            }
        }
    }

    @Test("transactions of engines that promise serializability are serializable", arguments: engines.map(\.name))
    func noAnomaly(name: String) throws {
        let engine = try #require(Self.engines.first { $0.name == name })
        let settings = engine.settings(for: .none)
        var overlapping = 0
        for number in 0..<Self.count {
            let directory = FileManager.default.temporaryDirectory.path + "/history-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            defer {
                do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record("\(error)") }
            }
            let location = DatabaseLocation(directory: directory)
            let mix = TransactionMix(seed: Seed(UInt64(number)), transactions: 20)
            let loader = try #require(try engine.open(location, settings: settings) as? any TableSession)
            try loader.load(TransactionCells.tables(count: mix.cellCount))
            try loader.close()
            let logs = try ThreadGroup.run(3) { index in
                let opened = try engine.open(location, settings: settings)
                guard let session = opened as? any TransactionSession else { throw HarnessError("no transactions") }
                var actor = TransactionActor(number: index)
                for plan in mix.plans(of: index) { try actor.run(plan, on: session) }
                try session.close()
                return actor.log.words
            }
            var history = History()
            for log in logs { try HistoryLog.add(log, to: &history) }
            let verdict = try HistoryChecker(history).check()
            if verdict.overlapCount > 0 { overlapping += 1 }
            let text = verdict.findings.map { WitnessText($0.witness).lines.joined(separator: "\n") }
            #expect(verdict.findings.isEmpty, "history \(number) of \(name): \(text)")
            #expect(verdict.committedCount > 0)
        }
        #expect(overlapping > 0, "nothing was concurrent")
    }
}
