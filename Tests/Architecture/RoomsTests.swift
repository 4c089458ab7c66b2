import Testing

/// Which room may import which.
@Suite struct RoomsTests {
    let manifest: PackageManifest

    init() throws {
        manifest = PackageManifest(try Checkout.text("Package.swift"))
    }

    @Test("the manifest is parsed completely")
    func manifestIsRead() {
        let names = manifest.targets.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.contains("Architecture"))
        #expect(
            manifest.targets.first { $0.name == "Strata" }?.dependencies == [
                "Platform", "StrataRepair", "StrataStorage", "StrataFiles", "StrataCrypto", "CStrataShim",
            ])
        #expect(manifest.targets.first { $0.name == "Measuring" }?.dependencies == ["Platform", "CAllocations"])
        let unread = Checkout.swiftFiles.map(\.file.path).filter {
            manifest.target(holding: $0) == nil && $0 != "Package.swift" && !$0.hasPrefix("Tests/Client/")
                && !$0.hasPrefix("Examples/") && !$0.hasPrefix("Benchmarks/Controls/")
        }
        #expect(unread == [], "sources that belong to no target")
    }

    @Test("Package.swift breaks no rule")
    func manifestKeepsToTheRules() {
        let rooms = Rooms(manifest)
        #expect(rooms.violations() == [])
        #expect(rooms.engineRooms.isSuperset(of: ["Strata", "StrataStorage", "StrataFiles", "StrataTool"]))
        #expect(rooms.engines.isSuperset(of: ["StrataEngine", "SQLiteEngine"]))
        let known = Set(manifest.targets.map(\.name))
        let named = Rooms.ground.union(Rooms.withoutEngines).union(Rooms.withoutFoundation)
            .union(Rooms.usersOfLibraries.keys).union(Rooms.migrationRooms)
        #expect(named.union(Rooms.librariesOfTheEngine).subtracting(known) == [], "rooms of the rules without a target")
    }

    @Test(
        "a forbidden dependency is found",
        arguments: [
            ("room(\"StrataStorage\", in: \"Engine\", [", "\"FaultModel\", ", "StrataStorage reaches FaultModel"),
            ("\"Strata\", in: \"Engine\",\n            [", "\"Seeds\", ", "Strata reaches Seeds"),
            ("\"Strata\", in: \"Engine\",\n            [", "\"CSQLite\", ", "Strata reaches CSQLite"),
            ("\"StoreMigration\", in: \"Engine\",\n            [", "\"Harness\", ", "StoreMigration reaches Harness"),
            ("\"Strata\", in: \"Engine\",\n            [", "\"StoreMigration\", ", "Strata reaches StoreMigration"),
            ("\"Harness\", in: \"Harness\",\n            [", "\"StrataStorage\", ", "Harness reaches StrataStorage"),
            ("room(\"FaultModel\", in: \"Harness\", [", "\"StrataEngine\", ", "FaultModel reaches StrataEngine"),
            (
                "\"Reporting\", in: \"Harness\", isMeasured: false,\n            [", "\"CLMDB\", ",
                "Reporting imports CLMDB"
            ),
            (
                "\"Reporting\", in: \"Harness\", isMeasured: false,\n            [", "\"CAllocations\", ",
                "Reporting imports CAllocations"
            ),
            (
                "\"RunRecords\", in: \"Harness\", isMeasured: false,\n            [", "\"Harness\", ",
                "RunRecords reaches RunRecords"
            ),
            (
                "\"RunRecords\", in: \"Harness\", isMeasured: false,\n            [", "\"CSQLite\", ",
                "RunRecords imports CSQLite"
            ),
            ("engine(\"ModelEngine\", [", "\"SQLiteEngine\", ", "ModelEngine reaches SQLiteEngine"),
            ("room(\"Seeds\", in: \"Ground\"", ", [\"Measuring\"]", "Seeds reaches Measuring"),
            ("room(\"Platform\", in: \"Ground\"", ", [\"StrataFiles\"]", "Platform reaches StrataFiles"),
        ])
    func forbiddenDependencyIsSeen(place: String, planted: String, expected: String) throws {
        let text = try Checkout.text("Package.swift")
        #expect(text.contains(place), "the manifest is written differently: plant it elsewhere")
        let found = Rooms(PackageManifest(text.replacing(place, with: place + planted))).violations()
        #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    @Test("each room of Sources is in the folder of the part in which the stair of the architecture has it")
    func roomsAreInTheirParts() throws {
        let parts = PageRules.partsOfRooms(in: try Checkout.text("docs/architecture.md"))
        let rooms = manifest.targets.filter { $0.path.hasPrefix("Sources/") }
        #expect(rooms.count > 30)
        for room in rooms {
            let part = parts[room.name] ?? "no part of the stair"
            #expect(room.path == "Sources/\(part)/\(room.name)", "docs/architecture.md has it in \(part)")
            #expect(Checkout.exists(room.path))
        }
        let libraries = manifest.targets.filter { $0.kind == .library }.map(\.name)
        #expect(Set(parts.filter { $0.value == "Ground" }.keys).subtracting(libraries) == Rooms.ground)
    }

    @Test("the search for parts reads the second column of the stair, and keeps a part until the next begins")
    func partsAreFound() {
        let stair = "| **Low 1** | `A`, `B` | as `C` |\n| | `D` and others | |\n| **High 2** | `E` | |\n`F` | `G` | |\n"
        let found = PageRules.partsOfRooms(in: "| step | room | use |\n|---|---|---|\n" + stair)
        #expect(found == ["A": "Low", "B": "Low", "D": "Low", "E": "High"])
    }

    @Test("no source imports what its room may not")
    func sourcesKeepToTheManifest() {
        for (file, source) in Checkout.swiftFiles {
            guard let target = manifest.target(holding: file.path) else { continue }
            for violation in Rooms.violations(in: source, path: file.path, of: target) {
                Issue.record("\(violation)")
            }
        }
    }

    @Test(
        "a forbidden import is found, in either direction",
        arguments: [
            ("Strata", "import Harness"), ("Harness", "import Strata"), ("StrataStorage", "import FaultModel"),
            ("FaultModel", "import StrataFiles"), ("Reporting", "@testable import Harness"),
            ("Scenarios", "package import Strata"), ("StrataStorage", "import struct Foundation.Data"),
            ("ModelEngine", "import CSQLite"), ("Strata", "import CAllocations"), ("StrataFiles", "import Glibc"),
            ("Harness", "import Darwin"), ("HarnessTests", "import Musl"),
        ])
    func forbiddenImportIsSeen(room: String, line: String) throws {
        let target = try #require(manifest.targets.first { $0.name == room })
        let allowed = SwiftSource("import Synchronization\n// import Nothing\n")
        #expect(Rooms.violations(in: allowed, path: "a.swift", of: target) == [])
        let planted = SwiftSource("import Synchronization\n\(line)\n")
        #expect(Rooms.violations(in: planted, path: "a.swift", of: target).map(\.line) == [2])
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
