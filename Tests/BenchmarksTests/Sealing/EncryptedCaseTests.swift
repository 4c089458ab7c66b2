import Datasets
import Files
import Harness
import RunRecords
import Seeds
import Testing

@testable import Scenarios

#if Crypto
    @Suite struct EncryptedCaseTests {
        static let engines = ["strata-storage", "strata"]

        private static func encrypted(_ name: String) throws -> any Engine {
            try #require(try EnginesUnderTest.engine(name) as? any EncryptingEngine).encrypted
        }

        private static func ledger(_ engine: any Engine, _ tables: TableSet) throws -> SealLedger {
            SealLedger(try #require(engine as? any EncryptingEngine), secrets: CaseContext.secrets(tables))
        }

        /// The smoke plan runs those that fork, since a process with threads cannot fork.
        static let scenarios: [(slug: String, parameters: [String: String])] = [
            ("delete-refill", ["rounds": "3"]), ("pinned-reader", ["transactions": "4", "updates": "20"]),
            ("power-loss", ["transactions": "3", "rows": "10", "states": "30"]),
            ("storage-history", ["operations": "10", "keys": "6", "states": "3"]),
        ]

        @Test("scenarios find nothing wrong, and compare the nonces", arguments: engines, scenarios.map(\.slug))
        func right(name: String, slug: String) throws {
            let parameters = try #require(Self.scenarios.first { $0.slug == slug }).parameters
            let report = try CaseUnderTest.run(
                try ScenarioRunTests.scenario(slug), on: try Self.encrypted(name), parameters: parameters)
            let plain = try CaseUnderTest.run(
                try ScenarioRunTests.scenario(slug), on: try EnginesUnderTest.engine(name), parameters: parameters)
            let wrong = report.trials.map { "\($0.address): \($0.outcome.rawValue) \($0.detail)" }
            #expect(report.outcomes.keys.filter { !Outcome.honest.contains($0) } == [], "\(wrong)")
            #expect(report.outcomes[.correct, default: 0] >= plain.outcomes[.correct, default: 0])
        }

        /// Loads a database, commits some rows to its log, and returns its files while it is open.
        private static func files(_ engine: any Engine, _ tables: TableSet) throws -> [(path: String, bytes: [UInt8])] {
            try EnginesUnderTest.withDirectory { directory in
                let location = DatabaseLocation(directory: directory)
                let settings = engine.settings(for: .full)
                let loading = try #require(try engine.open(location, settings: settings) as? any TableSession)
                try loading.load(tables)
                try loading.close()
                let session = try #require(try engine.open(location, settings: settings) as? any UpdateSession)
                for number in 0..<4 {
                    try session.update(
                        table: tables.main.name, column: "age", keys: [0, 1, 2], values: [7, 8, Int64(number)])
                }
                let files = try engine.files(at: location).filter { $0.role != .lock }
                    .map { ($0.path, try FileTree.readBytes($0.path)) }
                try session.close()
                return files
            }
        }

        private static func tables() throws -> TableSet {
            try DamageDataset().tables(size: 200, seed: Seed(1))
        }

        @Test("pages, slots and batches are found, each once", arguments: engines)
        func units(name: String) throws {
            let (engine, tables) = (try Self.encrypted(name), try Self.tables())
            let files = try Self.files(engine, tables)
            var ledger = try Self.ledger(engine, tables)
            for file in files { ledger.add(file.bytes, of: file.path) }
            // Repeated bytes are equal, and so is a part of them.
            for file in files { ledger.add(file.bytes, of: file.path) }
            let count = ledger.count
            for file in files { ledger.add(Array(file.bytes.dropFirst(4_096)), of: file.path, at: 4_096) }
            #expect(ledger.finding == nil)
            #expect(ledger.count == count)
            let sealing = try #require(engine as? any EncryptingEngine)
            for file in files {
                let units = sealing.sealedUnits(in: file.bytes, of: file.path, at: 0)
                #expect(units.count >= 2, "\(file.path)")
                #expect(Set(units.map(\.nonce)).count == units.count)
            }
        }

        @Test("a reused nonce is reported: in the same file, in another, and at its own place", arguments: engines)
        func twice(name: String) throws {
            let (engine, tables) = (try Self.encrypted(name), try Self.tables())
            let data = try #require(try Self.files(engine, tables).first)
            let sealing = try #require(engine as? any EncryptingEngine)
            let units = sealing.sealedUnits(in: data.bytes, of: data.path, at: 0).suffix(2)
            let (one, other) = (try #require(units.first), try #require(units.last))
            // After the 4 096 sealed bytes of a page.
            var copied = data.bytes
            copied.replaceSubrange((other.offset + 4_096)..<(other.offset + 4_108), with: one.nonce)
            var ledger = try Self.ledger(engine, tables)
            ledger.add(copied, of: data.path)
            #expect(ledger.finding?.contains("are sealed under one nonce") == true)
            var later = try Self.ledger(engine, tables)
            later.add(data.bytes, of: data.path)
            later.add(data.bytes, of: data.path + ".copy")
            #expect(later.finding?.contains("have one nonce") == true)
            var changed = data.bytes
            changed[one.offset + 4_108] ^= 1
            var again = try Self.ledger(engine, tables)
            again.add(data.bytes, of: data.path)
            again.add(changed, of: data.path)
            #expect(again.finding?.contains("with other contents") == true)
        }

        @Test("unsealed bytes are reported", arguments: engines)
        func plain(name: String) throws {
            let (plain, tables) = (try EnginesUnderTest.engine(name), try Self.tables())
            let data = try #require(try Self.files(plain, tables).first)
            var ledger = try Self.ledger(plain, tables)
            ledger.add(data.bytes, of: data.path)
            #expect(ledger.finding?.contains("not sealed") == true || ledger.finding?.contains("one nonce") == true)
            var empty = try Self.ledger(plain, tables)
            empty.add([], of: data.path)
            #expect(empty.finding?.contains("nothing") == true)
            var secrets = SealLedger(try #require(plain as? any EncryptingEngine), secrets: ["person-00100"])
            secrets.add(Array("....person-00100..".utf8), of: "x.log")
            #expect(secrets.finding?.contains("person-00100 can be read in x.log") == true)
        }
    }
#endif
