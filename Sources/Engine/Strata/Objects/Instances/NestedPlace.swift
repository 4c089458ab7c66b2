import StrataStorage

/// The way to an inner collection from its property, which is a value of any type, or a list or map of such values.
struct NestedSteps: Hashable, Sendable {
    /// Leads from a collection to the inner collection that is one of its elements.
    enum Step: Hashable, Sendable {
        case index(Int)
        case key(String)
    }

    /// The first step leads out of the property's own collection, or out of the list or map that is its value. Empty
    /// for that list or map itself.
    var steps: [Step]
    /// Whether the inner collection is a map.
    var isKeyed: Bool

    /// The steps to a collection inside this one.
    func inner(_ step: Step, isKeyed: Bool) -> NestedSteps { NestedSteps(steps: steps + [step], isKeyed: isKeyed) }

    var hasIndex: Bool { steps.contains { if case .index = $0 { true } else { false } } }
}

/// An inner collection that the program holds a reference to. It stays the same collection while elements around it
/// change, so its steps change with them.
///
/// Concurrency: confined with its Realm; in a frozen one it never changes.
final class NestedPlace {
    /// Its steps in what the Realm shows; nil once it was removed, or another value replaced it.
    private(set) var standing: NestedSteps?
    /// Its steps in the pinned version, if the running write has changed them; an inner nil says that it has none
    /// there.
    private var before: NestedSteps??
    /// The number of the write in which the program first accessed it; nil outside a write.
    let madeIn: UInt32?

    init(_ standing: NestedSteps?, madeIn: UInt32? = nil) {
        self.standing = standing
        self.madeIn = madeIn
    }

    /// Its steps in the version that the Realm has pinned.
    var pinned: NestedSteps? { before ?? standing }

    /// Changes its steps in the running write. Nil if it is gone.
    func move(to standing: NestedSteps?) {
        if before == nil { before = .some(self.standing) }
        self.standing = standing
    }

    /// Takes its steps in a version that is pinned from now on. Nil if it is gone there.
    func settle(at standing: NestedSteps?) {
        self.standing = standing
        before = nil
    }

    func settle() { before = nil }

    /// Reverts the changes of a rolled-back write.
    func restore() {
        if let before { standing = before }
        before = nil
    }
}

/// A change of a collection's elements, as far as it matters to steps through that collection.
enum NestedChange {
    case inserted(at: Int, count: Int)
    case removed(Range<Int>)
    /// Other values replaced these elements.
    case replaced(Range<Int>)
    case moved(Range<Int>, to: Int)
    /// The value of a map's key was replaced or removed.
    case entry(String)
    case everything

    /// What a step through the changed collection becomes; nil if its element is gone.
    func moved(_ step: NestedSteps.Step) -> NestedSteps.Step? {
        guard case .index(let place) = step else {
            switch self {
            case .entry(let key): return step == .key(key) ? nil : step
            case .everything: return nil
            case .inserted, .removed, .replaced, .moved: return step
            }
        }
        switch self {
        case .inserted(let first, let count): return .index(place < first ? place : place + count)
        case .removed(let range):
            return range.contains(place) ? nil : .index(place < range.lowerBound ? place : place - range.count)
        case .replaced(let range): return range.contains(place) ? nil : step
        case .moved(let range, let target):
            if range.contains(place) { return .index(target + place - range.lowerBound) }
            let without = place < range.lowerBound ? place : place - range.count
            return .index(without < target ? without : without + range.count)
        case .everything: return nil
        case .entry: return step
        }
    }
}

/// All inner collections that the program holds references to, by weak references.
///
/// Concurrency: confined with its Realm.
final class NestedPlaces {
    /// The row and column that contain an inner collection, by ids that are valid in every version.
    struct Holder: Hashable {
        var table: UInt32
        var key: Int64
        var column: UInt16
    }

    private struct Known {
        weak var place: NestedPlace?
    }

    private var places: [Holder: [Known]] = [:]
    private var count = 0
    /// Above this number of entries, those of released collections are removed.
    private var limit = 64
    /// Rows and columns in which the running write changed steps.
    private var changed: Set<Holder> = []
    /// The version that the last write committed, until the Realm pins a version. The steps are already those in it.
    private var committed: TransactionID?

    var isEmpty: Bool { count == 0 }

    func add(_ place: NestedPlace, _ holder: Holder) {
        places[holder, default: []].append(Known(place: place))
        count += 1
        if count > limit { forget() }
    }

    private func forget() {
        places = places.compactMapValues { known in
            let held = known.filter { $0.place != nil }
            return held.isEmpty ? nil : held
        }
        count = places.values.reduce(0) { $0 + $1.count }
        limit = max(64, 2 * count)
    }

    // MARK: In a write

    /// Changes the steps of inner collections after a change of the elements around them.
    /// - Parameter outer: the steps to the collection that changed.
    func note(_ change: NestedChange, _ holder: Holder, outer: [NestedSteps.Step]) {
        guard let known = places[holder] else { return }
        changed.insert(holder)
        for place in known.compactMap(\.place) {
            guard var standing = place.standing, standing.steps.count > outer.count, standing.steps.starts(with: outer)
            else { continue }
            let step = standing.steps[outer.count]
            let moved = change.moved(step)
            if moved == step { continue }
            if let moved { standing.steps[outer.count] = moved }
            place.move(to: moved == nil ? nil : standing)
        }
    }

    /// Notes that a column gets another value: the inner collections in it are gone.
    func noteReplaced(_ holder: Holder) {
        guard let known = places[holder] else { return }
        changed.insert(holder)
        for place in known.compactMap(\.place) { place.move(to: nil) }
    }

    /// Restores the steps of before the running write. Inner collections that were first accessed in it have none; they
    /// are gone if the write changed their column.
    func rollBack(_ write: UInt32) {
        for (holder, known) in places {
            for place in known.compactMap(\.place) {
                place.restore()
                if place.madeIn == write, changed.contains(holder) { place.settle(at: nil) }
            }
        }
        changed = []
    }

    /// Notes that the running write was committed as a version.
    func noteCommit(of version: TransactionID) { committed = version }

    /// Whether the steps are already those in `version`, which the Realm pins after `pinned`: it is the same version,
    /// or the one that the last write committed.
    func isSettled(in version: TransactionID, after pinned: TransactionID) -> Bool {
        version == pinned || version == committed
    }

    /// Keeps the changes of a committed write, whose version the Realm has pinned.
    func settle() {
        for known in places.values { for place in known { place.place?.settle() } }
        changed = []
        committed = nil
    }

    // MARK: Between versions

    /// Finds all inner collections again in another version.
    /// - Parameters:
    ///   - isPinned: whether the Realm has pinned that version; if not, it is the base of a write.
    ///   - followed: returns the steps in that version for steps in the pinned one.
    func follow(isPinned: Bool, _ followed: (Holder, NestedSteps) -> NestedSteps?) {
        forget()
        for (holder, known) in places {
            for place in known.compactMap(\.place) {
                let standing = place.pinned.flatMap { $0.hasIndex ? followed(holder, $0) : $0 }
                if isPinned { place.settle(at: standing) } else { place.move(to: standing) }
            }
        }
        changed = []
        if isPinned { committed = nil }
    }
}
