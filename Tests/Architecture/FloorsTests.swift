import Foundation
import Testing

/// What a folder of a room may name.
@Suite struct FloorsTests {
    static let swiftFiles = Checkout.swiftFiles.map { (path: $0.file.path, source: $0.source) }

    @Test("no folder of a room names what a higher one declares", arguments: Floors.all)
    func rooms(floors: Floors) {
        let files = floors.read(Self.swiftFiles)
        #expect(!files.isEmpty, "the room was not found")
        #expect(files.map(\.path).sorted() == Self.swiftPaths(in: floors.room))
        let (found, used) = floors.violations(in: files)
        for violation in found { Issue.record("\(violation)") }
        #expect(Set(floors.exceptions.keys).subtracting(used.keys) == [], "no file needs these exceptions")
        #expect(floors.exceptions.values.allSatisfy { !$0.isEmpty })
        for folder in floors.folders {
            #expect(files.contains { floors.folder(of: $0.path) == folder }, "\(folder) has no file")
        }
    }

    /// The Swift files that the folders of a room have, found without ``Checkout``.
    private static func swiftPaths(in room: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: Checkout.root.appendingPathComponent(room).path)
        return (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map { room + $0 }.sorted()
    }

    @Test("each name that the search for members passes over would be reported in some room")
    func ambiguousNames() {
        let found = Floors.all.reduce(into: Set<String>()) { found, floors in
            found.formUnion(floors.membersOfAnyName(in: floors.read(Self.swiftFiles)))
        }
        #expect(FloorMembers.ambiguous.subtracting(found) == [], "no use of these names would be reported")
    }

    @Test("a member that a lower file uses is one of any name, and one that none uses is not")
    func anyName() {
        let files: [(path: String, source: SwiftSource)] = [
            ("Room/Low/A.swift", SwiftSource("struct Ground {}\nlet a = ground.filter()\n")),
            ("Room/High/B.swift", SwiftSource("extension Ground {\n    func filter() {}\n    func joined() {}\n}\n")),
        ]
        #expect(Self.two.membersOfAnyName(in: Self.two.read(files)) == ["filter"])
    }

    @Test("Tools/floors lists the files that declare what its program uses, and no other")
    func filesOfTheTool() throws {
        let script = try Checkout.text("Tools/floors")
        let list = try #require(script.firstMatch(of: /(?m)^for file in (.*); do$/)).output.1
        let entry = try #require(script.firstMatch(of: /print\((\w+)\.text\)/)).output.1
        let all = Self.swiftFiles.filter { $0.path.hasPrefix("Tests/Architecture/") }.map {
            (name: String($0.path.dropFirst("Tests/Architecture/".count).dropLast(6)), code: Declarations($0.source))
        }
        var needed: Set<String> = []
        var open = all.filter { $0.code.outer.contains { $0.kind == .type && $0.name == entry } }
        while let next = open.popLast() {
            if !needed.insert(next.name).inserted { continue }
            open += all.filter { !needed.contains($0.name) && Self.uses(next.code, $0.code) }
        }
        #expect(list.split(separator: " ").map(String.init).sorted() == needed.sorted())
    }

    /// Whether a file uses what another one declares: a top-level declaration, or a member that it adds to a type of
    /// the first one.
    private static func uses(_ file: Declarations, _ other: Declarations) -> Bool {
        let own = Set(file.outer.map(\.name))
        let names = other.outer.filter { $0.kind != .extensionOfType && !$0.isPrivate }.map(\.name)
        let added = other.members.filter { $0.isAdded && !$0.isPrivate && own.contains($0.outer) }.map(\.name)
        return (names + added).contains { file.identifiers[$0[...]] != nil }
    }

    @Test(
        "a planted upward reference in storage is found",
        arguments: [
            ("Format", "func planted(_ view: ReadView) {}"), ("Pages", "let planted = Branch.maxLevel"),
            ("Rows", "extension WriteTransaction {}"), ("Entries", "struct Planted {\n    var turn: GuestTurn?\n}"),
            ("Processes", "struct Planted {\n    var store: Store?\n}"), ("Log", "let planted = ProcessTable.step"),
            ("Nowhere", "struct Planted {}"),
        ])
    func plantedInStorage(folder: String, text: String) { expectSeen(in: .storage, folder, text) }

    @Test(
        "a planted upward reference in the object layer is found",
        arguments: [
            ("Values", "func planted(_ instance: RealmInstance) {}"), ("Values", "extension AnyRealmValue {}"),
            ("Objects", "let planted = BoundPredicate.self"), ("Objects/Schema", "let planted = SortDescriptor.self"),
            ("Queries", "func planted(_ batch: ChangeBatch) {}"), ("Queries", "let planted = Realm.Error.self"),
            ("Notifications", "struct Planted {\n    var store: SharedStore?\n}"), ("Schema", "struct Planted {}"),
        ])
    func plantedInObjects(folder: String, text: String) { expectSeen(in: .objects, folder, text) }

    @Test(
        "the check finds a planted upward reference in a room of the harness",
        arguments: [
            (Floors.runRecords, "Measurements", "func planted(_ claim: RunClaim) {}"),
            (.runRecords, "Cases", "extension RunHeader {}"), (.runRecords, "Runs", "let planted = Gate.self"),
            (.harness, "System", "func planted(_ context: CaseContext) {}"),
            (.harness, "Engines", "struct Planted {\n    var registries: Registries?\n}"),
            (.harness, "Cases", "extension WorkerRequest {}"), (.harness, "Plans", "let planted = SelfTest.self"),
            (.reporting, "Text", "extension RunDigest {}"), (.reporting, "", "struct Planted {}"),
            (.reporting, "Figures", "let planted = TerminalReport.self"),
            (.programTrials, "Programs", "func planted(_ trial: CrashTrial) {}"),
            (.programTrials, "Recording", "let planted = DamageTrials.self"),
            (.scenarios, "Content", "let planted = BitFlip()"), (.scenarios, "Queries", "let planted = Commit()"),
            (.scenarios, "Workload", "extension ScenarioRegistration {}"), (.scenarios, "Nowhere", "struct Planted {}"),
        ])
    func plantedInHarness(floors: Floors, folder: String, text: String) { expectSeen(in: floors, folder, text) }

    @Test(
        "the check finds a planted member of a higher floor in a file of a lower floor that uses it",
        arguments: [
            (
                Floors.storage, "PageReader", "Versions", "Rows",
                "func planted(_ reader: PageReader) { reader.plantedBelow() }"
            ),
            (
                .storage, "TransactionChanges", "Store", "Writing",
                "extension TransactionChanges {\n    func b() { plantedBelow() }\n}"
            ),
            (.storage, "Grants", "Store", "Processes", "func planted(_ slots: Slots) { slots.grants.plantedBelow() }"),
            (.objects, "RealmInstance", "Realm", "Objects", "let planted = instance.plantedBelow()"),
            (.reporting, "Standing", "Words", "Figures", "let planted = all.map { $0.plantedBelow() }"),
        ])
    func plantedMember(floors: Floors, type: String, high: String, low: String, use: String) {
        let added = (
            floors.room + high + "/Added.swift", SwiftSource("extension \(type) {\n    func plantedBelow() {}\n}\n")
        )
        let path = floors.room + low + "/Planted.swift"
        let files = floors.read(Self.swiftFiles + [added, (path, SwiftSource(use + "\n"))])
        let found = floors.violations(in: files).found
        #expect(found.filter { $0.path == path && "\($0)".contains("\(type).plantedBelow") }.count == 1, "\(found)")
    }

    private func expectSeen(in floors: Floors, _ folder: String, _ text: String) {
        let path = floors.room + (folder.isEmpty ? "" : folder + "/") + "Planted.swift"
        let found = floors.violations(in: floors.read(Self.swiftFiles + [(path, SwiftSource(text + "\n"))])).found
        #expect(found.filter { $0.path == path }.count == 1, "\(found)")
    }

    @Test("the graph prints a line of floors per room, and per folder its exceptions with their numbers of files")
    func graph() {
        let files = [
            ("Low/A", "let a: Excused?"), ("Low/B", "let b: Excused?"), ("Low/C", "let c: Tower?"),
            ("High/D", "struct Excused {}"), ("High/E", "struct Tower {}"),
        ].map { (path: "Room/\($0).swift", source: SwiftSource($1 + "\n")) }
        #expect(
            FloorGraph([Self.two], files).lines == [
                "Room: 5 files, 1 exception, 1 violation", "  Low 3 < High 2", "  Low names Excused 2",
                "  Room/Low/C.swift:1: Low: Tower, which stands above, in High",
            ])
    }

    static let two = Floors(
        room: "Room/", folders: ["Low", "High"], exceptions: ["Low: Excused": "to see that it is passed over"])

    /// The violations of a lower file, beside an upper one with some declarations.
    static func found(_ low: String, beside high: String) -> [Int?] {
        let files: [(path: String, source: SwiftSource)] = [
            ("Room/Low/A.swift", SwiftSource(low + "\n")), ("Room/High/B.swift", SwiftSource(high + "\n")),
        ]
        return two.violations(in: two.read(files)).found.map(\.line)
    }

    @Test(
        "types, functions and constants are found, wherever they are named",
        arguments: [
            ("struct Tower {\n}", "// one\nlet a: [Tower] = []"), ("final class Tower {}", "func a() { Tower() }"),
            ("package enum Tower: Int { case a }", "// one\nlet a = \"\\(Tower.a)\""),
            ("func climb() {\n}", "let a = climb()"), ("let height = 3", "let a = height"),
            ("@frozen\npublic struct Tower<T> {\n}", "extension Tower {\n}"),
            ("package typealias Tower = Int", "let a: Tower = 3"),
            ("protocol Tower: AnyObject {\n}", "struct A: Tower {\n}"),
        ])
    func seen(high: String, low: String) {
        #expect(Self.found(low, beside: high).count == 1)
    }

    private static let ground =
        "struct Ground {\n    var depth = 1\n    struct Stone {\n        var weight = 1\n    }\n}\n"

    @Test(
        "the check finds each form of use of a member that a higher floor adds",
        arguments: [
            ("extension Ground {\n    func lift() {}\n}", "let a = Ground().lift()"),
            ("extension Ground {\n    var height: Int { 1 }\n}", "extension Ground {\n    var a: Int { height }\n}"),
            ("extension Ground {\n    static let top = 1\n}", "let a: Ground = .top"),
            ("extension Ground {\n    struct Tower {\n    }\n}", "let a: Ground.Tower?"),
            ("extension Ground.Stone {\n    func lift() {}\n}", "let a = stone.lift()"),
            ("package extension Ground {\n    func lift() {}\n}", "// one\nlet a = \"\\(ground.lift())\""),
        ])
    func seenMember(high: String, low: String) {
        #expect(Self.found(Self.ground + low, beside: high).count == 1)
    }

    @Test(
        "the check ignores private members, and names that a lower floor, the file or the standard library declares",
        arguments: [
            ("extension Ground {\n    private func lift() {}\n}", "let a = ground.lift()"),
            ("private extension Ground {\n    func lift() {}\n}", "let a = ground.lift()"),
            ("extension Ground {\n    func depth(_ a: Int) {}\n}", "let a = ground.depth"),
            ("extension Ground {\n    func weight(_ a: Int) {}\n}", "let a = stone.weight"),
            ("struct Tower {\n    func lift() {}\n}", "let a = crane.lift()"),
            ("extension Tower {\n    func lift() {}\n}", "let a = crane.lift()"),
            ("extension Ground {\n    func lift() {}\n}", "func lift() {}\nlet a = lift()"),
            (
                "extension Ground {\n    func lift() {}\n}",
                "extension Ground {\n    func a(lift: Int) -> Int { lift }\n}"
            ),
            (
                "extension Ground {\n    var height: Int { 1 }\n}",
                "func a() {\n    let height = 1\n    print(height)\n}"
            ),
            (
                "extension Ground {\n    func end() {}\n}",
                "enum Place {\n    case start(Int), end\n}\nlet a: Place = .end"
            ),
            ("extension Ground {\n    func joined() {}\n}", "let a = rows.joined()"),
            ("extension Ground {\n    var top: Int { 1 }\n}", "let top = 3\nlet a = 0...top"),
        ])
    func passedOverMember(high: String, low: String) {
        #expect(Self.found(Self.ground + low, beside: high) == [])
    }

    @Test(
        "text that only looks like a reference is ignored",
        arguments: [
            ("struct Tower {\n}", "// Tower\nlet a = \"Tower\""), ("private struct Tower {\n}", "let a: Tower?"),
            ("struct Tower {\n}", "struct A {\n    struct Tower {}\n    var a: Tower\n}"),
            ("struct Tower {\n}", "private struct Tower {\n}\nlet a: Tower?"),
            ("struct Tower {\n}", "let a: House.Tower"), ("struct Tower {\n}", "let towers = TowerOfLow()"),
            ("struct House {\n    struct Tower {}\n}", "let a: Tower?"), ("struct Excused {\n}", "let a: Excused?"),
        ])
    func passedOver(high: String, low: String) {
        #expect(Self.found(low, beside: high) == [])
    }
}
