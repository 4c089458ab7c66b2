import Harness
import RunRecords
import Seeds
import Strata

/// A table view applies every change set to a mirror of a collection: the mirror must equal the collection.
struct ChangesetMismatch: Scenario {
    let slug = "changeset-mismatch"
    let family = Family.invalidation
    let question = "Does a mirror that change sets are applied to stay equal to the collection?"
    let requires: Set<Capability> = [.objects]
    let parameters = [
        ScenarioParameter("commits", .size, default: 300, summary: "random commits, each followed by a comparison")
    ]

    /// The values of a row of a table view.
    private struct Row: Equatable {
        var id: Int
        var text: String
        var rank: Int

        init(_ entry: Entry) { (id, text, rank) = (entry.id, entry.text, entry.rank) }
    }

    /// The rows of a table view for a collection.
    private final class Mirror {
        let name: String
        private var shown = ChangeSetMirror<Row>()
        private(set) var updates = 0
        var problem: String?
        private var current: () -> [Row] = { [] }
        private var token: NotificationToken?

        init<Shown: RealmCollection>(_ name: String, _ collection: Shown) where Shown.Element == Entry {
            self.name = name
            current = { collection.map { Row($0) } }
            token = collection.observe { [weak self] change in
                switch change {
                case .initial(let now): self?.shown.rows = now.map { Row($0) }
                case .update(let now, let deletions, let insertions, let modifications):
                    self?.apply(
                        now.map { Row($0) }, deletions: deletions, insertions: insertions, modifications: modifications)
                case .error(let error): self?.problem = "\(error)"
                }
            }
        }

        private func apply(_ now: [Row], deletions: [Int], insertions: [Int], modifications: [Int]) {
            updates += 1
            if let wrong = shown.apply(now, deletions: deletions, insertions: insertions, modifications: modifications)
            {
                problem = wrong
            }
        }

        var finding: String? {
            if let problem { return problem }
            let (rows, current) = (shown.rows, current())
            guard let place = rows.indices.first(where: { !current.indices.contains($0) || rows[$0] != current[$0] })
            else { return rows.count == current.count ? nil : "the mirror has \(rows.count) of \(current.count) rows" }
            let there = current.indices.contains(place) ? "\(current[place])" : "nothing"
            return "at place \(place) the mirror has \(rows[place]), the collection \(there)"
        }

        func stop() { token?.invalidate() }
    }

    func run(_ context: CaseContext) throws {
        let place = TrialPlace(directory: try context.emptyLocation("mirror").directory, policy: .substitute)
        let commits = try context.integer("commits")
        try context.withEngineErrors {
            let realm = try place.realm(EntryClasses.all)
            try EntryClasses.fill(realm, count: 78)
            let owner = EntryList()
            try realm.write {
                owner.entries.append(objectsIn: realm.objects(Entry.self).prefix(30))
                realm.add(owner)
            }
            let table = realm.objects(Entry.self)
            let mirrors = [
                Mirror("table", table), Mirror("filter", table.filter("rank > 2")),
                Mirror("sorted", table.sorted(byKeyPath: "text")),
                Mirror("both", table.filter("rank < 5").sorted(byKeyPath: "rank", ascending: false)),
                Mirror("list", owner.entries), Mirror("list filter", owner.entries.filter("rank > 3")),
            ]
            var random = context.random("changes")
            var next = 1_000
            for commit in 0..<commits {
                try realm.write {
                    for _ in 0..<1 + random.below(6) { change(realm, owner, random: &random, next: &next) }
                }
                for mirror in mirrors {
                    let finding = mirror.finding
                    context.report.check("\(mirror.name) after commit \(commit)", expected: nil, got: finding)
                    if finding != nil { return }
                }
                if context.isOverBudget { return context.report.cut() }
            }
            for mirror in mirrors { mirror.stop() }
            for mirror in mirrors where mirror.updates == 0 {
                context.report.inconclusive("\(mirror.name) was told of no change")
            }
        }
    }

    private func change(_ realm: Realm, _ owner: EntryList, random: inout RandomStream, next: inout Int) {
        let table = realm.objects(Entry.self)
        let some = table.isEmpty ? nil : table[random.below(table.count)]
        let list = owner.entries
        switch random.below(9) {
        case 0, 1:
            realm.add(EntryClasses.make(next))
            next += 1
        case 2: if let some { realm.delete(some) }
        case 3: some?.rank = random.below(8)
        case 4: some?.text = "text \(random.below(1_000))"
        case 5: if let some { list.insert(some, at: random.below(list.count + 1)) }
        case 6: if !list.isEmpty { list.remove(at: random.below(list.count)) }
        case 7: if list.count > 1 { list.move(from: random.below(list.count), to: random.below(list.count)) }
        default:
            if let some {
                let id = some.id
                realm.delete(some)
                realm.add(EntryClasses.make(id))
            }
        }
    }
}
