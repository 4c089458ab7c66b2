/// Who may import whom. This table is the rule; Package.swift must not allow more, and no source may import more.
///
/// The engine's rooms never import the harness's: faults enter by the `FileSystem` value given at open, schedules by
/// the `Scheduling` value. FaultModel knows no engine. Measuring alone sees jemalloc, which replaces malloc in the
/// process that links it. One target per engine, so that a missing library stays local.
enum Rooms {
    static let table: [String: Set<String>] = [
        // Strata: the engine.
        "StrataFiles": ["CStrataShim"],
        "StrataStorage": ["StrataFiles", "CXXHash", "CStrataShim"],
        "StrataCrypto": ["StrataStorage", "CCrypto"],
        "Strata": ["StrataStorage", "StrataFiles", "StrataCrypto", "CStrataShim"],
        "StrataTool": ["StrataStorage", "StrataFiles", "StrataCrypto"],

        // Assay: the harness.
        "Measuring": ["CJemalloc"],
        "FaultModel": [],
        "RunRecords": ["Measuring"],
        "Harness": ["RunRecords", "Measuring", "FaultModel"],
        "SimulatedDisk": ["FaultModel", "StrataFiles", "Harness"],
        "Reporting": ["RunRecords", "Measuring"],
        "AssayTool": [
            "RunRecords", "Measuring", "Harness", "FaultModel", "SimulatedDisk", "Reporting", "Datasets", "Scenarios",
            "ObjectScenarios", "ModelEngine", "StrataEngine", "SQLiteEngine", "LMDBEngine", "RocksDBEngine",
        ],

        // A process for tests to kill.
        "StoreWorker": ["StrataStorage", "StrataFiles"],

        // Programs for tests to run under the preloaded library.
        "PreloadProbe": [],
        "WitnessProbe": ["Measuring"],

        // What is measured.
        "Datasets": ["RunRecords"],
        "Scenarios": ["Harness", "RunRecords", "Measuring", "FaultModel", "Datasets", "SimulatedDisk"],
        "ObjectScenarios": ["Harness", "RunRecords", "Measuring", "FaultModel", "Datasets", "Strata"],
        "ModelEngine": ["Harness", "RunRecords", "Measuring", "Datasets"],
        "PackedRows": ["Harness", "RunRecords"],
        "StrataEngine": [
            "Harness", "RunRecords", "Measuring", "Datasets", "PackedRows", "SimulatedDisk", "Strata", "StrataStorage",
            "StrataFiles",
        ],
        "LMDBEngine": ["Harness", "RunRecords", "Measuring", "PackedRows", "CLMDB"],
        "RocksDBEngine": ["Harness", "RunRecords", "Measuring", "PackedRows", "CRocksDB"],
        "SQLiteEngine": ["Harness", "RunRecords", "Measuring", "Datasets", "CSQLite"],
    ]

    static let engineRooms: Set<String> = ["StrataFiles", "StrataStorage", "StrataCrypto", "Strata", "StrataTool"]

    /// The C libraries that may reach an application which links the product Strata.
    static let librariesOfTheEngine: Set<String> = ["CStrataShim", "CXXHash", "CCrypto"]

    /// What comes with the toolchain and the system.
    static let platform: Set<String> = [
        "Swift", "Synchronization", "Glibc", "Musl", "Darwin", "Dispatch", "Foundation", "FoundationEssentials",
        "Observation",
    ]

    /// Start-up and hot paths: Foundation costs 4 to 12 ms before the first instruction of ours.
    static let withoutFoundation: Set<String> = [
        "StrataFiles", "StrataStorage", "StrataTool", "Measuring", "FaultModel",
    ]

    /// Everything that `room` reaches through the table.
    static func closure(of room: String) -> Set<String> {
        var reached: Set<String> = []
        var pending = [room]
        while let next = pending.popLast() {
            for dependency in table[next] ?? [] where reached.insert(dependency).inserted {
                pending.append(dependency)
            }
        }
        return reached
    }

    /// What is wrong with the imports of one file.
    static func violations(in source: SwiftSource, path: String, of target: PackageManifest.Target) -> [Violation] {
        let own: Set<String>
        switch target.kind {
        case .tests: own = Set(target.dependencies).union(["Testing"])
        default: own = table[target.name] ?? []
        }
        return source.imports.compactMap { module, line in
            if platform.contains(module) {
                guard withoutFoundation.contains(target.name), module.hasPrefix("Foundation") else { return nil }
                return Violation(path: path, line: line, rule: "\(target.name) does without Foundation")
            }
            if own.contains(module) { return nil }
            return Violation(path: path, line: line, rule: "\(target.name) must not import \(module)")
        }
    }
}
