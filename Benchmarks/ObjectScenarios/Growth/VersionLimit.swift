import Harness
import RunRecords
import Strata

/// More pinned versions than the configuration allows, and what an application can do then.
///
/// A violation: a write that succeeds beyond the limit, one that is refused below it, an error that persists after
/// versions were released or the file was reopened, or wrong data.
struct VersionLimit: ObjectTrialScenario {
    let slug = "version-limit"
    let family = Family.growth
    let question = "Can a program go on after too many versions were held?"

    enum Way: String, CaseIterable { case refused, belowLimit, recovers, opensAgain, readsGoOn, unlimited }

    private static let limit = 4

    /// Commits, and pins each version.
    /// - Returns: the versions, up to the first refusal.
    private static func hold(_ count: Int, _ realm: Realm) throws -> (held: [Realm], refusal: Realm.Error?) {
        var held: [Realm] = []
        for id in 1...count {
            do {
                try realm.write { realm.add(EntryClasses.make(id)) }
            } catch let error as Realm.Error where error.code == .tooManyVersions {
                return (held, error)
            }
            held.append(realm.freeze())
        }
        return (held, nil)
    }

    static func trial(_ way: Way, _ place: TrialPlace) throws -> PolicyTrials.Finding {
        var configuration = try place.realm(EntryClasses.all).configuration
        configuration.maximumNumberOfActiveVersions = way == .unlimited ? nil : UInt(limit)
        let realm = try Realm(configuration: configuration)
        let objects = { (ids: [Int]) in ids.map { EntryClasses.line($0) } }
        if way == .belowLimit || way == .unlimited {
            let allowed = way == .unlimited ? 50 : limit
            let (held, refusal) = try hold(allowed, realm)
            return .all([
                .expect("versions", held.count, allowed), .expect("refused", refusal == nil, true),
                .same("objects", EntryClasses.lines(realm), objects(Array(1...allowed))),
            ])
        }
        var (held, refusal) = try hold(50, realm)
        guard let refusal else { return .wrong("50 versions are held, and no write was refused") }
        let count = held.count
        switch way {
        case .refused:
            return .all([
                // The write that is refused begins at the limit; the commit before it may still pin its version for a
                // moment after it has returned.
                .expect("\(count) versions held when a write was refused", (limit...limit + 1).contains(count), true),
                .same("objects", EntryClasses.lines(realm), objects(Array(1...count))),
                .expect("the text names the limit", refusal.message.contains("\(limit)"), true),
            ])
        case .readsGoOn:
            return .all([
                .same("objects", EntryClasses.lines(realm), objects(Array(1...count))),
                .same(
                    "what the versions show", held.map { EntryClasses.lines($0) },
                    (1...count).map { objects(Array(1...$0)) }),
            ])
        case .recovers:
            held.removeAll()
            try realm.write { realm.add(EntryClasses.make(100)) }
            return .same("objects", EntryClasses.lines(realm), objects(Array(1...count) + [100]))
        case .opensAgain:
            held.removeAll()
            let again = configuration
            return try place.elsewhere(realm) { _ in
                let other = try Realm(configuration: again)
                try other.write { other.add(EntryClasses.make(100)) }
                let expected = (Array(1...count) + [100]).map { EntryClasses.line($0) }
                return .same("objects", EntryClasses.lines(other), expected)
            }
        case .belowLimit, .unlimited: return .right
        }
    }
}
