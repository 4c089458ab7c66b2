import Testing

@Suite("Floors: what a folder of a room may name")
struct FloorsTests {
    static let swiftFiles = Checkout.swiftFiles.map { (path: $0.file.path, source: $0.source) }

    @Test("no folder of a room names what a higher one declares", arguments: [Floors.storage, Floors.objects])
    func rooms(floors: Floors) {
        let files = floors.read(Self.swiftFiles)
        #expect(files.count > 100, "the room was not found")
        let (found, used) = floors.violations(in: files)
        for violation in found { Issue.record("\(violation)") }
        #expect(Set(floors.exceptions.keys).subtracting(used) == [], "exceptions that nothing needs any more")
        #expect(floors.exceptions.values.allSatisfy { !$0.isEmpty })
        for folder in floors.folders {
            #expect(files.contains { floors.folder(of: $0.path) == folder }, "\(folder) has no file")
        }
    }

    @Test(
        "a planted upward reference in storage is found",
        arguments: [
            ("Format", "func planted(_ view: ReadView) {}"), ("Pages", "let planted = Branch.maxLevel"),
            ("Rows", "extension WriteTransaction {}"), ("Entries", "struct Planted {\n    var table: ProcessTable?\n}"),
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

    private func expectSeen(in floors: Floors, _ folder: String, _ text: String) {
        let path = "\(floors.room)\(folder)/Planted.swift"
        let found = floors.violations(in: floors.read(Self.swiftFiles + [(path, SwiftSource(text + "\n"))])).found
        #expect(found.filter { $0.path == path }.count == 1, "\(found)")
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
