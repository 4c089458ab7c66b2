import Testing

@Suite("Rooms: who may import whom")
struct RoomsTests {
    let manifest: PackageManifest

    init() throws {
        manifest = PackageManifest(try Checkout.text("Package.swift"))
    }

    @Test("the manifest is read whole")
    func manifestIsRead() {
        let names = manifest.targets.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.contains("Architecture"))
        #expect(
            manifest.targets.first { $0.name == "Strata" }?.dependencies == [
                "StrataStorage", "StrataFiles", "StrataCrypto", "CStrataShim",
            ])
        #expect(manifest.targets.first { $0.name == "Measuring" }?.dependencies == ["CJemalloc"])
        let unread = Checkout.swiftFiles.map(\.file.path).filter {
            manifest.target(holding: $0) == nil && $0 != "Package.swift" && !$0.hasPrefix("Tests/Client/")
                && !$0.hasPrefix("Examples/") && !$0.hasPrefix("Benchmarks/Controls/")
        }
        #expect(unread == [], "sources that belong to no target")
    }

    @Test("every room stands in the table, and the manifest allows no more than the table")
    func manifestKeepsToTheTable() {
        for target in manifest.targets where [.room, .benchmark, .executableTarget].contains(target.kind) {
            guard let allowed = Rooms.table[target.name] else {
                Issue.record("\(target.name) is not in Rooms.table: say there what it may import")
                continue
            }
            let more = Set(target.dependencies).subtracting(allowed)
            #expect(more == [], "Package.swift lets \(target.name) import more than Rooms.table does")
        }
        let known = Set(manifest.targets.map(\.name))
        #expect(Set(Rooms.table.keys).subtracting(known) == [], "rows of Rooms.table without a target")
    }

    @Test("no source imports what its room may not")
    func sourcesKeepToTheTable() {
        for (file, source) in Checkout.swiftFiles {
            guard let target = manifest.target(holding: file.path) else { continue }
            for violation in Rooms.violations(in: source, path: file.path, of: target) {
                Issue.record("\(violation)")
            }
        }
    }

    @Test(
        "a forbidden import is seen, in either direction",
        arguments: [
            ("Strata", "import Harness"), ("Harness", "import Strata"), ("StrataStorage", "import FaultModel"),
            ("FaultModel", "import StrataFiles"), ("Reporting", "@testable import Harness"),
            ("Scenarios", "package import Strata"), ("StrataStorage", "import struct Foundation.Data"),
            ("ModelEngine", "import CSQLite"), ("Strata", "import CJemalloc"),
        ])
    func forbiddenImportIsSeen(room: String, line: String) throws {
        let target = try #require(manifest.targets.first { $0.name == room })
        let allowed = SwiftSource("import Synchronization\n// import Nothing\n")
        #expect(Rooms.violations(in: allowed, path: "a.swift", of: target) == [])
        let planted = SwiftSource("import Synchronization\n\(line)\n")
        #expect(Rooms.violations(in: planted, path: "a.swift", of: target).map(\.line) == [2])
    }

    @Test("the engine reaches no room of the harness, no peer and no other allocator", arguments: Rooms.engineRooms)
    func engineStandsAlone(room: String) {
        let allowed = Rooms.engineRooms.union(Rooms.librariesOfTheEngine)
        #expect(Rooms.closure(of: room).subtracting(allowed) == [])
    }

    @Test("no room reaches itself")
    func noCycle() {
        for room in Rooms.table.keys {
            #expect(!Rooms.closure(of: room).contains(room), "\(room) imports itself by a detour")
        }
    }

    @Test("the harness finds an engine by its protocols alone", arguments: ["Harness", "Scenarios", "Reporting"])
    func harnessKnowsNoEngine(room: String) {
        let engines: Set<String> = [
            "Strata", "StrataStorage", "ModelEngine", "StrataEngine", "SQLiteEngine", "LMDBEngine", "RocksDBEngine",
            "CSQLite", "CLMDB", "CRocksDB",
        ]
        #expect(Rooms.closure(of: room).isDisjoint(with: engines))
    }

    @Test("one table of libraries: the manifest, Tools/libraries and the traits agree")
    func librariesAgree() throws {
        let rows = try Checkout.text("Tools/libraries").split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: " ").map(String.init) }
        var unlisted = Set(manifest.targets.filter { $0.kind == .library }.map(\.name))
        for row in rows {
            let library = try #require(
                manifest.targets.first { $0.pkgConfig == row[1] }, "\(row[1]) is no library of Package.swift")
            #expect(library.debianPackage == row[3])
            unlisted.remove(library.name)
            if row[0] != "required" { #expect(manifest.traits.contains(row[0])) }
        }
        #expect(unlisted == [], "libraries of Package.swift that Tools/libraries does not name")
        let withoutLibrary = Set(manifest.traits).subtracting(rows.map { $0[0] })
        #expect(withoutLibrary == ["Zoo"])
    }
}
