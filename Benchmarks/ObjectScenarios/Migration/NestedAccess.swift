import Harness
import RunRecords
import Strata

/// Values are copied up two links and out of lists by name; missing names are read in every way.
struct NestedAccess: MigrationScenario {
    let slug = "nested-access"
    let question = "Are values typed through links and lists, and do unknown names throw?"

    enum Deep {
        final class Root: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var bar: Bar?
            @Persisted var bars: List<Bar>
            override class func className() -> String { "Root" }
        }
        final class Bar: Object {
            @Persisted var baz: Baz?
            override class func className() -> String { "Bar" }
        }
        final class Baz: Object {
            @Persisted var qux = 0
            override class func className() -> String { "Baz" }
        }
    }

    enum Flat {
        final class Root: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var qux = 0
            @Persisted var all: List<Int>
            override class func className() -> String { "Root" }
        }
    }

    func run(_ context: CaseContext) throws {
        try MigrationChecks.run(context) { checks in
            let url = try checks.file("database")
            do {
                let realm = try Realm(configuration: checks.configuration(url, 0, types: [Deep.Root.self]))
                try realm.write {
                    for id in 0..<100 {
                        let root = Deep.Root(value: ["id": id])
                        if id % 3 > 0 { root.bar = Deep.Bar(value: id % 3 == 1 ? ["baz": ["qux": id]] : [:]) }
                        for place in 0..<(id % 4) { root.bars.append(Deep.Bar(value: ["baz": ["qux": place]])) }
                        realm.add(root)
                    }
                }
            }
            let reads: [(String, @Sendable (MigrationObject) throws -> Void)] = [
                ("unknown name", { _ = try $0.value("bra", as: Int?.self) }),
                ("unknown name behind a link", { _ = try $0.value("bar.bza.qux", as: Int?.self) }),
                ("through a number", { _ = try $0.value("id.qux", as: Int?.self) }),
                ("another type", { _ = try $0.value("id", as: String.self) }),
                ("nil as a value", { _ = try $0.value("bar.baz.qux", as: Int.self) }),
                ("unknown name by subscript", { _ = $0["bra"] }),
            ]
            for (name, read) in reads {
                checks.refused(name, .invalidInput) {
                    try Realm.performMigration(
                        for: checks.configuration(url, 1, types: [Flat.Root.self]) { migration, _ in
                            // If a part of a refused migration were kept, this object would show.
                            migration.create("Root", value: ["id": 100])
                            // The object without links comes last, after all others were read.
                            for root in migration.oldObjects(ofType: "Root").filter("id == 1 OR id == 0") {
                                try read(root)
                            }
                        })
                }
                try checks.version(url, is: 0, name)
                let left = try Realm(configuration: checks.configuration(url, 0, types: [Deep.Root.self]))
                checks.report.check(
                    "\(name), objects left", expected: Array(0..<100),
                    got: left.objects(Deep.Root.self).map(\.id).sorted())
            }
            let lifting = checks.configuration(url, 1, types: [Flat.Root.self]) { migration, _ in
                try migration.enumerateObjects(ofType: "Root") { old, new in
                    guard let old, let new else { return }
                    let checked: Int? = try old.value("bar.baz.qux")
                    guard checked == old["bar"]["baz"]["qux"] as? Int else { return }
                    try new.set("qux", to: checked ?? -1)
                    let bars: List<MigrationObject> = try old.value("bars")
                    try new.set("all", to: bars.map { try $0.value("baz.qux", as: Int.self) })
                }
            }
            let realm = try Realm(configuration: lifting)
            let roots = Array(realm.objects(Flat.Root.self))
            checks.report.check(
                "two links up", expected: (0..<100).map { $0 % 3 == 1 ? $0 : -1 }, got: roots.map(\.qux))
            checks.report.check(
                "out of lists", expected: (0..<100).map { Array(0..<($0 % 4)) }, got: roots.map { Array($0.all) })
        }
    }
}
