import Harness
import RunRecords
import Strata

/// More versions held than the configuration allows, and what a program can do about it.
///
/// A violation: a write that goes on past the limit, one that is refused below it, an error that letting go or opening
/// again does not end, or data that is not as it was.
struct VersionLimit: ObjectTrialScenario {
    let slug = "version-limit"
    let family = Family.growth
    let question = "Can a program go on after too many versions were held?"

    enum Way: String, CaseIterable { case refused, belowLimit, recovers, opensAgain, readsGoOn, unlimited }

    private static let limit = 4

    /// Commits, and holds each version.
    /// - Returns: the versions, up to the first that could not be made.
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
        if way == .belowLimit {
            let (held, refusal) = try hold(2, realm)
            return .all([.expect("versions", held.count, 2), .expect("refused", refusal == nil, true)])
        }
        if way == .unlimited { return .expect("refused", try hold(50, realm).refusal == nil, true) }
        var (held, refusal) = try hold(50, realm)
        guard let refusal else { return .wrong("50 versions are held, and no write was refused") }
        let count = held.count
        switch way {
        case .refused:
            return .all([
                .expect("not far past the limit", count <= limit + 2, true),
                .expect("the text names the limit", refusal.message.contains("\(limit)"), true),
            ])
        case .readsGoOn:
            let sizes = held.map { $0.objects(Entry.self).count }
            return .all([
                .expect("objects", realm.objects(Entry.self).count, count),
                .expect("what the versions show", sizes, Array(1...count)),
            ])
        case .recovers:
            held.removeAll()
            try realm.write { realm.add(EntryClasses.make(100)) }
            return .expect("objects", realm.objects(Entry.self).count, count + 1)
        case .opensAgain:
            held.removeAll()
            let again = configuration
            return try place.elsewhere(realm) { _ in
                let other = try Realm(configuration: again)
                try other.write { other.add(EntryClasses.make(100)) }
                return .expect("objects", other.objects(Entry.self).count, count + 1)
            }
        case .belowLimit, .unlimited: return .right
        }
    }
}
