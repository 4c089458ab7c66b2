import Harness
import RunRecords
import Strata

/// A table view gets the number of rows, an object is deleted, and the view gets its last row.
struct CountThenIndex: Scenario {
    let slug = "count-then-index"
    let family = Family.invalidation
    let question = "What does a list on a screen get for an index that is no longer there?"
    let requires: Set<Capability> = [.objects]
    let expects: Promise.Kind? = .safeDeletedAccess
    let parameters = [PolicyTrials.parameter]

    private enum Source: String, CaseIterable {
        case table, query, sorted, list
    }

    /// The rows that are deleted between count and index.
    private enum Victims: String, CaseIterable {
        case first, middle, last, two, all
    }

    private enum Access: String, CaseIterable {
        /// `results[count - 1]`.
        case index
        /// The same on `results.snapshot()`, taken with the count.
        case snapshot
        /// A loop over the current rows.
        case loop
    }

    private static let rowCount = 10

    /// The names of all trials: class, source, victims, access. Lists have no snapshot.
    static var names: [String] {
        var names: [String] = []
        for kind in ["keyed", "plain"] {
            for source in Source.allCases {
                for victims in Victims.allCases {
                    for access in Access.allCases where source != .list || access != .snapshot {
                        names.append("\(kind),\(source.rawValue),\(victims.rawValue),\(access.rawValue)")
                    }
                }
            }
        }
        return names
    }

    /// The message of the trap under `.trap`; nil where the policy does not apply to the trial.
    static func trapText(_ name: String) -> String? {
        name.hasSuffix(",\(Access.index.rawValue)") ? "is out of bounds" : nil
    }

    func run(_ context: CaseContext) throws {
        try PolicyTrials(context).run(Self.names, trapText: Self.trapText, trial: Self.trial)
    }

    static func trial(_ name: String, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let parts = name.split(separator: ",").map(String.init)
        guard parts.count == 4, let source = Source(rawValue: parts[1]), let victims = Victims(rawValue: parts[2]),
            let access = Access(rawValue: parts[3])
        else { throw HarnessError("no such trial: \(name)") }
        return parts[0] == "keyed"
            ? try trial(KeyedCell.self, source, victims: victims, access: access, place: place)
            : try trial(PlainCell.self, source, victims: victims, access: access, place: place)
    }

    private static func trial<C: ShownObject>(
        _ type: C.Type, _ source: Source, victims: Victims, access: Access, place: TrialPlace
    ) throws -> PolicyTrials.Finding {
        let realm = try place.realm([C.self])
        try realm.write {
            let cells = (0..<rowCount).map { C.make($0) }
            realm.add(cells)
            let holder = C.make(100)
            realm.add(holder)
            for cell in cells { holder.addPart(cell) }
        }
        guard let collection = try collection(C.self, source, realm) else { return .wrong("the owner is not there") }
        let count = collection.count()
        let frame = collection.frame()
        guard count == rowCount + (source == .list || source == .query ? 0 : 1) else {
            return .wrong("\(count) rows before the deletion")
        }
        let gone = Self.gone(victims)
        try realm.write {
            for number in gone { if let cell = C.first(number, in: realm) { realm.delete(cell) } }
        }
        switch access {
        case .index:
            let cell = collection.element(count - 1)
            return .all([
                .expect("isInvalidated", cell.isInvalidated, true), .expect("title", cell.title, "untitled"),
                .expect("is reported", place.reported.isEmpty, false),
                .expect("count", collection.count(), count - gone.count),
            ])
        case .snapshot:
            let titles = frame.map(\.title)
            return .all([
                .expect("rows of the frame", titles.count, count),
                .expect("titles of the frame", titles.sorted(), collection.titlesBefore.sorted()),
                .expect("reports", place.reported, []),
            ])
        case .loop:
            let numbers = collection.elements().map(\.number)
            let expected = collection.numbersBefore.filter { !gone.contains($0) }
            return .all([.expect("rows of the loop", numbers, expected), .expect("reports", place.reported, [])])
        }
    }

    /// Numbers of the rows that are deleted.
    private static func gone(_ victims: Victims) -> [Int] {
        switch victims {
        case .first: [0]
        case .middle: [rowCount / 2]
        case .last: [rowCount - 1]
        case .two: [1, rowCount - 2]
        case .all: Array(0..<rowCount)
        }
    }

    /// A collection on a screen, whatever its type.
    private struct Shown<C: ShownObject> {
        let count: () -> Int
        let element: (Int) -> C
        let elements: () -> [C]
        let frame: () -> [C]
        let titlesBefore: [String]
        let numbersBefore: [Int]

        init(_ results: Results<C>) {
            count = { results.count }
            element = { results[$0] }
            elements = { results.map { $0 } }
            frame = { results.snapshot().map { $0 } }
            titlesBefore = results.map(\.title)
            numbersBefore = results.map(\.number)
        }

        init(_ list: List<C>) {
            count = { list.count }
            element = { list[$0] }
            elements = { list.map { $0 } }
            frame = { [] }
            titlesBefore = list.map(\.title)
            numbersBefore = list.map(\.number)
        }
    }

    private static func collection<C: ShownObject>(
        _ type: C.Type, _ source: Source, _ realm: Realm
    ) throws -> Shown<C>? {
        let table = realm.objects(C.self)
        switch source {
        case .table: return Shown(table)
        case .query: return Shown(table.filter("number < \(rowCount)"))
        case .sorted: return Shown(table.sorted(byKeyPath: "number", ascending: false))
        case .list:
            let holder = C.first(100, in: realm)
            if let list = (holder as? KeyedCell)?.parts as? List<C> { return Shown(list) }
            if let list = (holder as? PlainCell)?.parts as? List<C> { return Shown(list) }
            return nil
        }
    }
}
