import Harness
import RunRecords
import Strata

/// An object that a cell or a controller holds is deleted, and then read: every kind of property, after every kind of
/// deletion, with and without a primary key.
struct ReadDeleted: Scenario {
    let slug = "read-deleted"
    let family = Family.invalidation
    let question = "What does a program get when it reads a deleted object, and does it keep running?"
    let requires: Set<Capability> = [.objects]
    let expects: Promise.Kind? = .safeDeletedAccess
    let parameters = [PolicyTrials.parameter]

    /// The kind of deletion.
    private enum Way: String, CaseIterable {
        case handle, otherHandle, loop, everything, recreated, inWrite
    }

    /// The kind of read afterwards.
    private enum Read: String, CaseIterable {
        case text, integer, real, link, description, hash, isInvalidated, checked, heldList

        /// Reads that access the row itself: the policy applies to them.
        var followsPolicy: Bool {
            switch self {
            case .text, .integer, .real, .link: true
            case .description, .hash, .isInvalidated, .checked, .heldList: false
            }
        }
    }

    /// All trials: class, way, read.
    static var names: [String] {
        ["keyed", "plain"].flatMap { kind in
            Way.allCases.flatMap { way in Read.allCases.map { "\(kind),\(way.rawValue),\($0.rawValue)" } }
        }
    }

    /// The message of the trap under `.trap`; nil where the policy does not apply to the trial.
    static func trapText(_ name: String) -> String? {
        Read.allCases.contains { $0.followsPolicy && name.hasSuffix(",\($0.rawValue)") }
            ? "Object has been deleted or invalidated" : nil
    }

    func run(_ context: CaseContext) throws {
        try PolicyTrials(context).run(Self.names, trapText: Self.trapText, trial: Self.trial)
    }

    static func trial(_ name: String, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        let parts = name.split(separator: ",").map(String.init)
        guard parts.count == 3, let way = Way(rawValue: parts[1]), let read = Read(rawValue: parts[2]) else {
            throw HarnessError("no such trial: \(name)")
        }
        return parts[0] == "keyed"
            ? try trial(KeyedCell.self, way, read: read, place: place)
            : try trial(PlainCell.self, way, read: read, place: place)
    }

    private static func trial<C: ShownObject>(
        _ type: C.Type, _ way: Way, read: Read, place: TrialPlace
    ) throws -> PolicyTrials.Finding {
        let realm = try place.realm([C.self])
        try realm.write {
            for number in 1...5 { realm.add(C.make(number)) }
        }
        guard let held = C.first(3, in: realm), let other = C.first(4, in: realm) else {
            return .wrong("an object that was added is not there")
        }
        try realm.write { held.addPart(other) }
        let before = Before(held)
        guard before.title == "title 3", held.partCount == 1 else { return .wrong("wrong before the deletion") }
        if way == .inWrite {
            realm.beginWrite()
            realm.delete(held)
            let finding = try judge(held, read, before: before, place: place)
            try realm.commitWrite()
            return finding
        }
        try delete(held, way, realm)
        return try judge(held, read, before: before, place: place)
    }

    /// The values of the object before its deletion.
    private struct Before<C: ShownObject> {
        let title: String
        let hash: Int
        let parts: () -> Int

        init(_ cell: C) {
            title = cell.title
            hash = cell.hashValue
            // The list is fetched while its owner exists, as a screen that shows it does.
            if let cell = cell as? KeyedCell {
                let list = cell.parts
                parts = { list.count }
            } else if let cell = cell as? PlainCell {
                let list = cell.parts
                parts = { list.count }
            } else {
                parts = { -1 }
            }
        }
    }

    private static func delete<C: ShownObject>(_ held: C, _ way: Way, _ realm: Realm) throws {
        try realm.write {
            switch way {
            case .handle, .inWrite: realm.delete(held)
            case .otherHandle: if let same = C.first(3, in: realm) { realm.delete(same) }
            case .loop: for cell in realm.objects(C.self) where cell.number == 3 { realm.delete(cell) }
            case .everything: realm.deleteAll()
            case .recreated:
                realm.delete(held)
                realm.add(C.make(3))
            }
        }
    }

    /// Reads must return the declared default with a report; identity and `isInvalidated` work without one.
    private static func judge<C: ShownObject>(
        _ cell: C, _ read: Read, before: Before<C>, place: TrialPlace
    ) throws -> PolicyTrials.Finding {
        let value: PolicyTrials.Finding
        switch read {
        case .text: value = .expect("title", cell.title, "untitled")
        case .integer: value = .expect("count", cell.count, -1)
        case .real: value = .expect("weight", cell.weight, 0.5)
        case .link: value = .expect("partner", cell.hasPartner, false)
        case .description: value = .expect("description is empty", cell.description.isEmpty, false)
        case .hash:
            value = .all([.expect("hash", cell.hashValue, before.hash), .expect("equal to itself", cell == cell, true)])
        case .isInvalidated: value = .expect("isInvalidated", cell.isInvalidated, true)
        case .heldList: value = .expect("objects in its list", before.parts(), 0)
        case .checked:
            do {
                value = .wrong("a checked read gave \(try cell.checkedTitle())")
            } catch Realm.Error.objectDeleted {
                value = .right
            }
        }
        let reports = place.reported.count
        guard read.followsPolicy else { return value }
        return .all([value, .expect("reports", reports, 1)])
    }
}
