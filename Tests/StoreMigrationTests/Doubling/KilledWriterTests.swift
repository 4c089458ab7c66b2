import Foundation
import StoreMigration
import Strata
import Testing

#if SQLite
    /// A child writes both stores and is killed at a call; this process opens its files. The sides are compared by
    /// complete reads, without a reconciler, which would mend them.
    @Suite(.enabled(if: Worker.isPossible, "not under a sanitizer"))
    struct KilledWriterTests {
        @Test(
            "after a death at any call the next process makes both stores equal, with all acknowledged batches",
            arguments: [("oldFirst", "bothOldRead"), ("newFirst", "bothNewRead")])
        func killed(order: String, phase: String) throws {
            let trials = try Worker.trials(order, phase)
            print("\(order), \(phase): killed at \(trials.count) calls")
            #expect(trials.filter { $0.divergences > 0 }.map(\.call) == [])
            #expect(trials.filter(\.hasLost).map(\.call) == [])
            // Each commit of either store is among the calls.
            #expect(trials.count > 20)
            #expect(Set(trials.map(\.acknowledged)) == [0, 1, 2, 3])
        }

        #if Zoo
            @Test("the same deaths find a lost entry of the outbox")
            func mistake() throws {
                let lost = "migration-lost-outbox-entry"
                let trials = try Worker.trials("oldFirst", "bothOldRead", untilDifferentBy: lost)
                #expect(trials.last.map { $0.divergences > 0 } == true)
            }
        #endif
    }

    /// Runs the program MigrationWorker under the preloaded library.
    enum Worker {
        struct Trial {
            var call: Int
            var acknowledged: Int
            var divergences: Int
            /// Whether an acknowledged batch is missing in the stores.
            var hasLost: Bool
        }

        static let isPossible = dlsym(nil, "__tsan_init") == nil && folder != nil

        /// The directory of built programs and libraries.
        static let folder: String? = {
            var words = CommandLine.arguments
            if let path = realpath("/proc/self/exe", nil) {
                words.append(String(cString: path))
                free(path)
            }
            for word in words {
                guard let range = word.range(of: ".xctest") else { continue }
                let bundle = word[..<range.lowerBound]
                guard let slash = bundle.lastIndex(of: "/") else { continue }
                let folder = String(bundle[..<slash])
                if access(folder + "/MigrationWorker", X_OK) == 0, access(folder + "/libAssayPreload.so", R_OK) == 0 {
                    return folder
                }
            }
            return nil
        }()

        /// Kills a worker before each of its calls that change a file, one call per trial.
        /// - Parameter mistake: a mistake planted in the worker. With it, the first divergence ends the trials.
        static func trials(
            _ order: String, _ phase: String, untilDifferentBy mistake: String? = nil
        ) throws -> [Trial] {
            let place = try MigrationPlace()
            let prepared = place.path + "/prepared"
            try FileManager.default.createDirectory(atPath: prepared, withIntermediateDirectories: true)
            try #require(run([prepared, "prepare", order], fault: nil, mistake: nil, root: prepared).status == 0)
            var trials: [Trial] = []
            for call in 0..<2_000 {
                let directory = place.path + "/\(call)"
                try FileManager.default.copyItem(atPath: prepared, toPath: directory)
                let ended = try run(
                    [directory, "write", order, phase], fault: "change#\(call),kill-before", mistake: mistake,
                    root: directory)
                if ended.text.contains("end 0") { return trials }
                try #require(!ended.text.contains("error"), "\(ended.text)")
                let acknowledged = ended.text.split(separator: "\n").count
                trials.append(try judge(directory, call, acknowledged, order))
                try FileManager.default.removeItem(atPath: directory)
                if mistake != nil, trials.last.map({ $0.divergences > 0 }) == true { break }
            }
            return trials
        }

        private static func judge(
            _ directory: String, _ call: Int, _ acknowledged: Int, _ order: String
        ) throws -> Trial {
            let old = try SQLiteTableStore(
                directory + "/old.sqlite", [SQLiteTable(model, table: "person", keyColumn: "id")])
            let new = try StrataStore(
                Realm.Configuration(
                    fileURL: URL(fileURLWithPath: directory + "/new.strata"), objectTypes: [Killed.Person.self]),
                models: [model])
            let writer = try DoubleWriter(
                old: old, new: new, outbox: URL(fileURLWithPath: directory + "/outbox.strata"),
                order: order == "oldFirst" ? .oldFirst : .newFirst)
            let ids = (1...7).map { RecordID("Person", $0) }
            let (a, b) = (try old.records(ids), try new.records(ids))
            let divergences = ids.filter { a[$0] != b[$0] }.count
            // A value of each batch that no later one changes.
            let isThere = [b[ids[1]] == nil && b[ids[5]] != nil, b[ids[2]]?["age"] == .integer(33), b[ids[6]] == nil]
            let hasLost = acknowledged > 0 && !(0..<acknowledged).allSatisfy { isThere[$0] }
            try writer.close()
            return Trial(call: call, acknowledged: acknowledged, divergences: divergences, hasLost: hasLost)
        }

        enum Killed {
            final class Person: Object {
                @Persisted(primaryKey: true) var id = 0
                @Persisted var name = ""
                @Persisted var age: Int?
                @Persisted var friend: Person?
            }
        }

        static let model = RecordModel(
            "Person", key: "id", hasIntegerKey: true,
            [
                RecordField("name", .text), RecordField("age", .integer, isOptional: true),
                RecordField("friend", .link(to: "Person")),
            ])

        static func run(
            _ arguments: [String], fault: String?, mistake: String?, root: String
        ) throws -> (status: Int32, text: String) {
            let folder = try #require(folder)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: folder + "/MigrationWorker")
            process.arguments = arguments
            var environment = ProcessInfo.processInfo.environment
            environment["LD_PRELOAD"] = folder + "/libAssayPreload.so"
            environment["ASSAY_IO_ROOT"] = root
            environment["ASSAY_FAULT"] = fault
            environment["ASSAY_ZOO_MISTAKE"] = mistake
            environment["SWIFT_BACKTRACE"] = "enable=no"
            process.environment = environment
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: data, as: UTF8.self))
        }
    }
#endif
