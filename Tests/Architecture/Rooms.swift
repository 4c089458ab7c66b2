/// Forbidden dependencies of rooms. Package.swift declares the imports; these rules restrict Package.swift, and check
/// that no source imports more than its target's dependencies.
///
/// The engine's rooms never import the harness's: faults enter by the `FileSystem` value given at open, schedules by
/// the `Scheduling` value. FaultModel and the scenarios know no engine. Only Measuring imports CAllocations, whose
/// malloc counts in the process that links it. Each engine has a target, so that a missing library affects only it.
struct Rooms {
    let targets: [PackageManifest.Target]

    init(_ manifest: PackageManifest) { targets = manifest.targets }

    /// Rooms below both the tools and the harness, in Sources/Ground, which has the library CSQLite as well. They
    /// depend on neither, and the product Strata uses only Platform.
    static let ground: Set<String> = ["Platform", "Seeds", "JSONText", "Commands", "Files"]

    /// The only room that imports the C library of a system (``systems``). It exports the library to other rooms.
    static let chooserOfSystem = "Platform"

    /// The C libraries that may be linked into an application through the product Strata.
    static let librariesOfTheEngine: Set<String> = ["CStrataShim", "CXXHash", "CCrypto"]

    /// Rooms that store the harness's own data in a peer's library, besides the peer's own target.
    static let usersOfLibraries = ["RunHistory": "CSQLite", "CoreDataFiles": "CSQLite"]

    /// Rooms that import other engines' files. The command `strata` has them, the product Strata does not.
    static let importers: Set<String> = ["CoreDataFiles"]

    /// Rooms that bring data from other stores to the engine: they may use it and the other store's library, but
    /// neither harness nor peers.
    static let migrationRooms: Set<String> = ["StoreMigration"]

    /// Rooms that find an engine by the protocols of Harness, or not at all.
    static let withoutEngines: Set<String> = [
        "Measuring", "FaultModel", "History", "RunRecords", "Harness", "Reporting", "Datasets", "Scenarios",
        "PackedRows", "ProgramTrials", "CaseFiles",
    ]

    /// Modules of the toolchain.
    static let toolchain: Set<String> = [
        "Swift", "Synchronization", "Dispatch", "Foundation", "FoundationEssentials", "Observation",
    ]

    /// The C libraries of the systems.
    static let systems: Set<String> = ["Glibc", "Musl", "Darwin"]

    /// Rooms for start-up and hot paths, without Foundation, which costs 4 to 12 ms before `main`.
    static let withoutFoundation: Set<String> = ground.union([
        "StrataFiles", "StrataStorage", "StrataRepair", "StrataTool", "CoreDataFiles", "Measuring",
        "FaultModel",
    ])

    /// The rooms of the engine and its tool, by path and name.
    var engineRooms: Set<String> {
        Set(targets.map(\.name).filter { $0.hasPrefix("Strata") && !engines.contains($0) && !tests.contains($0) })
    }

    /// The targets that adapt an engine to the harness, Strata's included.
    var engines: Set<String> { Set(targets.filter { $0.kind == .engine }.map(\.name)) }

    private var tests: Set<String> { Set(targets.filter { $0.path.hasPrefix("Tests/") }.map(\.name)) }
    private var libraries: Set<String> { Set(targets.filter { $0.kind == .library }.map(\.name)) }

    /// Everything that `room` reaches through the dependencies of Package.swift.
    func closure(of room: String) -> Set<String> {
        var reached: Set<String> = []
        var pending = [room]
        while let next = pending.popLast() {
            for dependency in targets.first(where: { $0.name == next })?.dependencies ?? []
            where reached.insert(dependency).inserted {
                pending.append(dependency)
            }
        }
        return reached
    }

    /// Which of the rules Package.swift breaks, one sentence each.
    func violations() -> [String] {
        var found: [String] = []
        func check(_ room: String, _ forbidden: Set<String>, _ rule: String) {
            for reached in closure(of: room).intersection(forbidden).sorted() {
                found.append("\(room) reaches \(reached): \(rule)")
            }
        }
        let all = Set(targets.map(\.name)).union(libraries)
        let engine = engineRooms.union(Self.librariesOfTheEngine)
        for room in engineRooms.sorted() {
            let tool = room == "StrataTool" ? Self.ground.union(Self.importers).union(["CSQLite"]) : []
            let allowed = engine.union(tool).union([Self.chooserOfSystem])
            check(room, all.subtracting(allowed), "the engine stands alone")
        }
        for room in Self.ground.sorted() { check(room, all.subtracting(Self.ground), "the ground stands on nothing") }
        // SimulatedDisk needs only the engine's file system protocol.
        let strata = engineRooms.subtracting(["StrataFiles"])
        for room in Self.withoutEngines.sorted() {
            check(room, engines.union(strata).union(peerLibraries), "the harness finds an engine by its protocols")
        }
        for room in Self.usersOfLibraries.keys.sorted() where !Self.importers.contains(room) {
            check(room, engines.union(strata), "what keeps runs knows no engine")
        }
        let ofMigrations = engine.union(Self.migrationRooms)
            .union([Self.chooserOfSystem, "CoreDataFiles", "CSQLite", "JSONText"])
        for room in Self.migrationRooms.sorted() {
            check(room, all.subtracting(ofMigrations), "a migration knows the engine and the store that it comes from")
        }
        for room in engines.sorted() { check(room, engines, "an engine knows no other") }
        for room in all.sorted() { check(room, [room], "no room reaches itself") }
        for target in targets where !target.path.hasPrefix("Tests/") {
            for library in peerLibraries.intersection(target.dependencies).sorted()
            where target.kind != .engine && Self.usersOfLibraries[target.name] != library {
                found.append("\(target.name) imports \(library): a peer's library belongs to the peer's target")
            }
            if target.dependencies.contains("CAllocations") && target.name != "Measuring" {
                found.append("\(target.name) imports CAllocations: only Measuring does")
            }
        }
        return found
    }

    private var peerLibraries: Set<String> {
        libraries.subtracting(Self.librariesOfTheEngine)
    }

    /// The violations in the imports of one file.
    static func violations(in source: SwiftSource, path: String, of target: PackageManifest.Target) -> [Violation] {
        let own = Set(target.dependencies).union(target.kind == .tests ? ["Testing"] : [])
        return source.imports.compactMap { module, line in
            if systems.contains(module) {
                guard target.name != chooserOfSystem else { return nil }
                let remedy = "import \(chooserOfSystem), which alone imports \(module)"
                return Violation(path: path, line: line, rule: remedy)
            }
            if toolchain.contains(module) {
                guard withoutFoundation.contains(target.name), module.hasPrefix("Foundation") else { return nil }
                return Violation(path: path, line: line, rule: "\(target.name) does without Foundation")
            }
            if own.contains(module) { return nil }
            return Violation(path: path, line: line, rule: "\(target.name) must not import \(module)")
        }
    }
}
