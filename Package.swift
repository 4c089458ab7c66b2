// swift-tools-version: 6.2
import PackageDescription

// A trait per C library that may be missing. The default set is empty: `Tools/traits` prints the traits whose library
// is installed, and the Makefile passes them with `--traits`. A manifest that probes for libraries goes stale, because
// SwiftPM caches it.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
]

/// No optimization, and one process of the compiler for a module. The driver would start a second one for the module's
/// interface, which checks all declarations once more.
let unoptimized = ["-Onone", "-no-emit-module-separately-wmo"]

/// The loader looks functions of libraries up when the program starts. Otherwise the first call of each is a look-up,
/// which an open would be charged with.
let boundAtStart = LinkerSetting.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))

/// For what neither measures nor is measured: the build for tests, which alone has the trait Zoo, compiles it without
/// optimization, in a fifth of the time.
let unmeasured = settings + [.unsafeFlags(unoptimized, .when(configuration: .release, traits: ["Zoo"]))]

/// A room of one of the three parts of Sources: Ground, Engine or Harness (docs/architecture.md).
func room(
    _ name: String, in part: String, isMeasured: Bool = true, _ dependencies: [Target.Dependency] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Sources/\(part)/\(name)",
        swiftSettings: isMeasured ? settings : unmeasured)
}

func benchmark(_ name: String, isMeasured: Bool = true, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Benchmarks/\(name)",
        swiftSettings: isMeasured ? settings : unmeasured)
}

/// An engine that the harness drives, a peer or Strata itself, behind Harness's protocols. In the build for tests no
/// figure of a peer counts.
func engine(_ name: String, isMeasured: Bool = true, _ dependencies: [Target.Dependency] = []) -> Target {
    benchmark(name, isMeasured: isMeasured, dependencies)
}

/// Tests are compiled without optimization, in release builds too: what they call is optimized, and the compiler needs
/// less time for them. Those that compute much themselves are compiled like what they test.
func tests(
    _ name: String, path: String? = nil, isOptimized: Bool = false, _ dependencies: [Target.Dependency]
) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, path: path ?? "Tests/\(name)",
        swiftSettings: settings + (isOptimized ? [] : [.unsafeFlags(unoptimized, .when(configuration: .release))]))
}

func library(_ name: String, in part: String, pkgConfig: String, apt: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/\(part)/\(name)", pkgConfig: pkgConfig, providers: [.apt([apt])])
}

// The engines, a target each, so that a missing library stays local. An engine more is an entry here, and its
// registration in Sources/Harness/AssayTool/BuildRegistries.swift.
let engines: [Target] = [
    engine("ModelEngine", ["Platform", "Harness", "RunRecords", "Measuring"]),
    engine(
        "LibraryEngine", isMeasured: false,
        ["Platform", "Files", "Harness", "RunRecords", "Measuring", "JSONText", "PackedRows", "CAssayEngine"]),
    engine(
        "StrataEngine",
        [
            "Platform", "Files", "Harness", "RunRecords", "Measuring", "PackedRows", "SimulatedDisk", "Strata",
            "StrataRepair", "StrataStorage", "StrataFiles", "StrataCrypto",
        ]),
    engine(
        "LMDBEngine", isMeasured: false,
        [
            "Platform", "Files", "Harness", "RunRecords", "Measuring", "PackedRows",
            .target(name: "CLMDB", condition: .when(traits: ["LMDB"])),
        ]),
    engine(
        "RocksDBEngine", isMeasured: false,
        [
            "Files", "Harness", "RunRecords", "Measuring", "PackedRows",
            .target(name: "CRocksDB", condition: .when(traits: ["RocksDB"])),
        ]),
    // Its library is loaded while the program runs.
    engine(
        "DuckDBEngine", isMeasured: false,
        ["Platform", "Files", "Harness", "RunRecords", "Measuring", "PackedRows", "CDuckDB"]),
    engine(
        "SQLiteEngine", isMeasured: false,
        [
            "Platform", "Files", "Harness", "Seeds", "RunRecords", "Measuring", "Datasets",
            .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
        ]),
]
let everyEngine: [Target.Dependency] = engines.map { .target(name: $0.name) }

let package = Package(
    name: "Assay",
    products: [
        .library(name: "Strata", targets: ["Strata"]),
        .library(name: "StoreMigration", targets: ["StoreMigration"]),
        .executable(name: "strata", targets: ["StrataTool"]),
        .executable(name: "assay", targets: ["AssayTool"]),
        .library(name: "AssayPreload", type: .dynamic, targets: ["CAssayPreload"]),
    ],
    traits: [
        .trait(name: "Crypto", description: "Encryption at rest, by libcrypto."),
        .trait(name: "LMDB", description: "LMDB as a peer."),
        .trait(name: "RocksDB", description: "RocksDB as a peer."),
        .trait(name: "SQLite", description: "SQLite as a peer, and Core Data's stores."),
        .trait(name: "Zoo", description: "Planted bugs, for the self-test. Never in a build that measures."),
        .default(enabledTraits: []),
    ],
    targets: engines + [
        // The ground: what both the tools and the harness stand on.
        room("Platform", in: "Ground"),
        room("Seeds", in: "Ground"),
        room("JSONText", in: "Ground"),
        room("Commands", in: "Ground", ["Platform"]),
        room("Files", in: "Ground", isMeasured: false, ["Platform", "JSONText"]),
        // For the import of Core Data's stores, the archive of runs, and the peer.
        library("CSQLite", in: "Ground", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),

        // Strata: the engine. The first is what Swift cannot call.
        .target(name: "CStrataShim", path: "Sources/Engine/CStrataShim", cSettings: [.define("_GNU_SOURCE")]),
        library("CXXHash", in: "Engine", pkgConfig: "libxxhash", apt: "libxxhash-dev"),
        library("CCrypto", in: "Engine", pkgConfig: "libcrypto", apt: "libssl-dev"),
        room("StrataFiles", in: "Engine", ["Platform", "CStrataShim"]),
        room("StrataStorage", in: "Engine", ["Platform", "StrataFiles", "CXXHash", "CStrataShim"]),
        room(
            "StrataCrypto", in: "Engine",
            ["StrataStorage", .target(name: "CCrypto", condition: .when(traits: ["Crypto"]))]),
        room("StrataRepair", in: "Engine", ["StrataStorage", "StrataFiles", "CXXHash"]),
        room(
            "Strata", in: "Engine",
            ["Platform", "StrataRepair", "StrataStorage", "StrataFiles", "StrataCrypto", "CStrataShim"]),
        // Stores of Core Data, which only those who move away from it import.
        room(
            "CoreDataFiles", in: "Engine",
            [
                "Platform", "StrataStorage", "StrataFiles", "JSONText",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ]),
        // From another store to Strata: both are written and compared.
        room(
            "StoreMigration", in: "Engine",
            ["Platform", "Strata", "StrataStorage", "StrataFiles", "CoreDataFiles", "CXXHash"]),
        .executableTarget(
            name: "StrataTool",
            dependencies: [
                "Platform", "StrataRepair", "StrataStorage", "StrataFiles", "StrataCrypto", "CoreDataFiles", "Commands",
                "JSONText",
            ],
            path: "Sources/Engine/StrataTool", swiftSettings: unmeasured),

        // Assay: the harness. The first stands in LD_PRELOAD, so nothing may depend on it and link it.
        // Loaded into programs that know nothing of Swift, and so linked without its runtime (linking.c).
        .target(
            name: "CAssayPreload", path: "Sources/Harness/CAssayPreload", cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.unsafeFlags(["-nostartfiles"], .when(platforms: [.linux]))]),
        .target(name: "CAssayEngine", path: "Sources/Harness/CAssayEngine"),
        .target(name: "CDuckDB", path: "Sources/Harness/CDuckDB"),
        library("CLMDB", in: "Harness", pkgConfig: "lmdb", apt: "liblmdb-dev"),
        library("CRocksDB", in: "Harness", pkgConfig: "rocksdb", apt: "librocksdb-dev"),
        // Its functions stand before those of libc in every program that links it.
        .target(name: "CAllocations", path: "Sources/Harness/CAllocations", cSettings: [.define("_GNU_SOURCE")]),
        room("Measuring", in: "Harness", ["Platform", "CAllocations"]),
        room("FaultModel", in: "Harness", ["Seeds"]),
        room("Statistics", in: "Harness", ["Platform", "Seeds"]),
        room("History", in: "Harness", ["Seeds", "RunRecords"]),
        room(
            "RunRecords", in: "Harness", isMeasured: false,
            ["Platform", "Files", "Seeds", "JSONText", "Measuring", "Statistics"]),
        room(
            "RunHistory", in: "Harness", isMeasured: false,
            [
                "Files", "Seeds", "JSONText", "RunRecords",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ]),
        room(
            "Harness", in: "Harness",
            ["Platform", "Files", "Seeds", "JSONText", "Commands", "RunRecords", "Measuring", "Statistics"]),
        room(
            "CaseFiles", in: "Harness", isMeasured: false,
            ["Files", "Seeds", "JSONText", "Commands", "RunRecords", "Harness"]),
        room("SimulatedDisk", in: "Harness", ["Platform", "Seeds", "FaultModel", "StrataFiles", "Harness"]),
        room(
            "ProgramTrials", in: "Harness", isMeasured: false,
            ["Platform", "Files", "Seeds", "JSONText", "Commands", "RunRecords", "Measuring", "FaultModel", "Harness"]),
        room(
            "Reporting", in: "Harness", isMeasured: false,
            ["Platform", "Files", "Seeds", "JSONText", "RunRecords", "Measuring", "Statistics"]),
        .executableTarget(
            name: "AssayTool",
            dependencies: everyEngine + [
                "Platform", "Files", "Seeds", "JSONText", "Commands", "RunRecords", "Measuring", "Harness",
                "FaultModel", "ProgramTrials", "CaseFiles", "Reporting", "RunHistory", "Statistics",
                "Datasets", "Scenarios", "ObjectScenarios", "MigrationScenarios",
                .target(name: "Zoo", condition: .when(traits: ["Zoo"])),
            ],
            path: "Sources/Harness/AssayTool", swiftSettings: unmeasured, linkerSettings: [boundAtStart]),

        // What is measured.
        benchmark("Datasets", ["Platform", "Files", "Seeds", "RunRecords"]),
        benchmark(
            "Scenarios", isMeasured: false,
            [
                "Platform", "Files", "Harness", "History", "Seeds", "RunRecords", "Measuring", "FaultModel", "Datasets",
                "SimulatedDisk", "CaseFiles", "Commands", "ProgramTrials",
            ]),
        benchmark(
            "ObjectScenarios", isMeasured: false,
            [
                "Platform", "Files", "Harness", "Seeds", "RunRecords", "Measuring", "Strata", "CaseFiles", "Commands",
            ]),
        benchmark(
            "MigrationScenarios", isMeasured: false,
            [
                "Platform", "Files", "Harness", "Seeds", "RunRecords", "Measuring", "Strata", "StoreMigration",
                "CoreDataFiles",
            ]),
        benchmark(
            "Zoo",
            [
                "Platform", "Files", "Harness", "RunRecords", "Measuring", "SimulatedDisk", "StrataFiles",
            ]),
        benchmark("PackedRows", ["Platform", "Harness", "RunRecords", "Measuring", "JSONText"]),

        // Tests.
        tests("StrataFilesTests", ["Platform", "StrataFiles"]),
        .executableTarget(
            name: "StoreWorker", dependencies: ["Platform", "StrataStorage", "StrataFiles"], path: "Tests/StoreWorker",
            swiftSettings: settings),
        tests(
            "StrataStorageTests",
            [
                "Platform", "StrataStorage", "StrataFiles", "CStrataShim", "CXXHash", "SimulatedDisk", "FaultModel",
                "Seeds", "Measuring", "StoreWorker",
            ]),
        // Its stores, and what damages them, are those of StrataStorageTests.
        tests(
            "StrataRepairTests",
            ["Platform", "StrataRepair", "StrataStorage", "StrataFiles", "StrataStorageTests", "Measuring"]),
        tests("StrataCryptoTests", ["StrataCrypto", "StrataStorage", "StrataFiles"]),
        tests("StrataTests", ["Platform", "Seeds", "Measuring", "Strata", "StrataStorage", "StrataFiles"]),
        tests("CoreDataFilesTests", ["Platform", "CoreDataFiles", "Strata"]),
        .executableTarget(
            name: "MigrationWorker", dependencies: ["Platform", "StoreMigration", "Strata", "CoreDataFiles"],
            path: "Tests/MigrationWorker", swiftSettings: settings),
        tests("StoreMigrationTests", ["StoreMigration", "MigrationWorker", "Strata", "CoreDataFiles"]),
        tests(
            "StrataToolTests",
            [
                "Platform", "StrataTool", "CoreDataFiles", "StrataRepair", "StrataStorage", "StrataFiles",
                "StrataStorageTests",
            ]),
        tests("JSONTextTests", ["JSONText"]),
        tests("CommandsTests", ["Platform", "Commands"]),
        tests("FilesTests", ["Platform", "Files"]),
        tests("MeasuringTests", ["Platform", "Seeds", "Measuring"]),
        tests("FaultModelTests", ["Seeds", "FaultModel"]),
        tests("StatisticsTests", isOptimized: true, ["Platform", "Seeds", "Statistics"]),
        .executableTarget(
            name: "HistoryProbe", dependencies: ["Platform", "History", "Seeds", "RunRecords"],
            path: "Tests/HistoryProbe",
            swiftSettings: settings),
        tests(
            "HistoryTests",
            [
                "History", "HistoryProbe", "Seeds", "RunRecords", "Harness", "Measuring", "Scenarios", "ModelEngine",
                "LMDBEngine", "SQLiteEngine", "StrataEngine",
            ]),
        tests("RunRecordsTests", ["Platform", "Files", "FilesTests", "Seeds", "JSONText", "RunRecords", "Measuring"]),
        tests("RunHistoryTests", ["Platform", "Files", "Seeds", "RunHistory", "RunRecords"]),
        tests(
            "HarnessTests",
            [
                "Platform", "Files", "Seeds", "JSONText", "Harness", "RunRecords", "Measuring", "Statistics",
            ]),
        tests("CaseFilesTests", ["Seeds", "CaseFiles", "Harness", "RunRecords"]),
        tests("SimulatedDiskTests", ["Platform", "Seeds", "SimulatedDisk", "FaultModel", "StrataFiles"]),
        tests(
            "ProgramTrialsTests",
            [
                "Platform", "Files", "ProgramTrials", "Seeds", "Measuring", "FaultModel", "Harness", "PreloadProbe",
            ]),
        tests(
            "ReportingTests", ["Platform", "Seeds", "JSONText", "Reporting", "RunRecords", "Measuring", "Statistics"]),
        .executableTarget(
            name: "PreloadProbe", path: "Tests/PreloadProbe", cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("pthread")]),
        .executableTarget(
            name: "WitnessProbe", dependencies: ["Platform", "Measuring"], path: "Tests/WitnessProbe",
            swiftSettings: settings),
        tests("PreloadTests", ["Platform", "PreloadProbe", "WitnessProbe"]),
        tests(
            "BenchmarksTests",
            everyEngine + [
                "Platform", "Files", "Datasets", "Scenarios", "ObjectScenarios", "MigrationScenarios", "PackedRows",
                "Zoo", "Harness", "Seeds", "RunRecords", "Measuring", "Strata", "StoreMigration", "CaseFiles",
                "ProgramTrials", "FaultModel", "SimulatedDisk",
            ]),
        tests(
            "Simulation", isOptimized: true,
            ["Strata", "StrataStorage", "StrataFiles", "StrataRepair", "SimulatedDisk", "FaultModel", "Seeds"]),
        tests("Architecture", isOptimized: true, []),
    ]
)
