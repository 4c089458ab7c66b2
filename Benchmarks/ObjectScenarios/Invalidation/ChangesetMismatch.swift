import Harness
import RunRecords
import Seeds
import Strata

/// A table view keeps a mirror of a collection and applies every change set to it: the mirror has to be the collection.
struct ChangesetMismatch: Scenario {
    let slug = "changeset-mismatch"
    let family = Family.invalidation
    let question = "Does a mirror that change sets are applied to stay equal to the collection?"
    let requires: Set<Capability> = [.objects]
    let parameters = [
        ScenarioParameter("commits", default: "300", summary: "random commits, each followed by a comparison")
    ]

    /// What a table view shows: identities in order, changed by deletions, then insertions.
    private final class Mirror {
        let name: String
        var ids: [Int] = []
        var problem: String?
        private var current: () -> [Int] = { [] }
        private var token: NotificationToken?

        init<Shown: RealmCollection>(_ name: String, _ collection: Shown) where Shown.Element == Entry {
            self.name = name
            current = { collection.map(\.id) }
            token = collection.observe { [weak self] change in
                switch change {
                case .initial(let now): self?.ids = now.map(\.id)
                case .update(let now, let deletions, let insertions, let modifications):
                    self?.apply(now.map(\.id), deletions, insertions, modifications)
                case .error(let error): self?.problem = "\(error)"
                }
            }
        }

        private func apply(_ now: [Int], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
            if modifications.contains(where: { !ids.indices.contains($0) }) { problem = "a modification out of range" }
            for list in [deletions, insertions, modifications] where list != list.sorted() {
                problem = "indices that are not sorted: \(list)"
            }
            for index in deletions.reversed() {
                guard ids.indices.contains(index) else { return problem = "deletion \(index) of \(ids.count)" }
                ids.remove(at: index)
            }
            for index in insertions {
                guard index <= ids.count, now.indices.contains(index) else {
                    return problem = "insertion \(index) of \(ids.count)"
                }
                ids.insert(now[index], at: index)
            }
            if ids.count != now.count {
                problem = "\(ids.count) rows after the change set, \(now.count) in the collection"
            }
        }

        var finding: String? {
            if let problem { return problem }
            let current = current()
            return ids == current ? nil : "the mirror has \(ids.prefix(12)), the collection \(current.prefix(12))"
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
                    for _ in 0..<1 + random.below(6) { change(realm, owner, &random, &next) }
                }
                for mirror in mirrors {
                    let finding = mirror.finding
                    context.report.check("\(mirror.name) after commit \(commit)", expected: nil, got: finding)
                    if finding != nil { return }
                }
                if context.isOverBudget { return context.report.cut() }
            }
            for mirror in mirrors { mirror.stop() }
        }
    }

    private func change(_ realm: Realm, _ owner: EntryList, _ random: inout RandomStream, _ next: inout Int) {
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
