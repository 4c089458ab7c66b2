import StrataStorage

/// The steps to an inner collection, from a property of any type, or of a list or a map of such values.
struct NestedSteps: Hashable, Sendable {
    /// From a collection to an inner one.
    enum Step: Hashable, Sendable {
        case index(Int)
        case key(String)
    }

    /// From the property's own value or collection.
    var steps: [Step]
    /// Whether the inner collection is a map.
    var isKeyed: Bool

    /// The steps to a collection inside this one.
    func inner(_ step: Step, isKeyed: Bool) -> NestedSteps { NestedSteps(steps: steps + [step], isKeyed: isKeyed) }

    var hasIndex: Bool { steps.contains { if case .index = $0 { true } else { false } } }
}

/// An inner collection in use by the program: it stays the same one while elements around it change.
///
/// Concurrency: confined with its Realm; in a frozen one it never changes.
final class NestedPlace {
    /// Its steps in what the Realm shows; nil once another value replaced it.
    private(set) var standing: NestedSteps?
    /// Its steps in the pinned version, if the running write has changed them.
    private var before: NestedSteps??
    /// The write in which it was first accessed.
    let madeIn: UInt32?

    init(_ standing: NestedSteps?, madeIn: UInt32? = nil) {
        self.standing = standing
        self.madeIn = madeIn
    }

    /// Its steps in the version that the Realm has pinned.
    var pinned: NestedSteps? { before ?? standing }

    /// Changes its steps in the running write, or removes it.
    func move(to standing: NestedSteps?) {
        if before == nil { before = .some(self.standing) }
        self.standing = standing
    }

    /// Adopts its steps in the newly pinned version.
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

/// A change of a collection's elements, as far as inner collections are affected.
enum NestedChange {
    case inserted(at: Int, count: Int)
    case removed(Range<Int>)
    /// Other values replaced these elements.
    case replaced(Range<Int>)
    case moved(Range<Int>, to: Int)
    /// The value of a map's key was replaced or removed.
    case entry(String)
    case everything

    /// The step after the change; nil if its element is gone.
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

/// All inner collections in use by the program. Holds them weakly.
///
/// Concurrency: confined with its Realm.
final class NestedPlaces {
    /// The row and column of their values, by ids that are valid in every version.
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
    /// Number of entries above which released ones are removed.
    private var limit = 64
    /// Columns in which the running write changed steps.
    private var changed: Set<Holder> = []
    /// The version that the last write committed, until a version is pinned: the steps are already those of it.
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

    /// Follows a change of a collection's elements.
    /// - Parameter outer: the steps to the collection.
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

    /// Notes that a column gets another value.
    func noteReplaced(_ holder: Holder) {
        guard let known = places[holder] else { return }
        changed.insert(holder)
        for place in known.compactMap(\.place) { place.move(to: nil) }
    }

    /// Reverts the running write's changes. Collections first accessed in it are removed if it changed their column.
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

    /// Whether the steps are already those of a version that the Realm pins after another one.
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

    /// Follows all inner collections to another version.
    /// - Parameters:
    ///   - isPinned: whether the Realm has pinned that version instead of the previous one.
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
