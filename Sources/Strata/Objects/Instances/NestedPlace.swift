/// Where a list or a map stands in the values of a property of any type, or of a list or a map of such values.
struct NestedSteps: Hashable, Sendable {
    /// From one collection to one that stands in it.
    enum Step: Hashable, Sendable {
        case index(Int)
        case key(String)
    }

    /// From the property's own value, or collection, on.
    var steps: [Step]
    /// Whether a map stands there.
    var isKeyed: Bool

    /// Of one that stands in this one.
    func inner(_ step: Step, isKeyed: Bool) -> NestedSteps { NestedSteps(steps: steps + [step], isKeyed: isKeyed) }

    var hasIndex: Bool { steps.contains { if case .index = $0 { true } else { false } } }
}

/// A list or a map that stands in a value of any type, as somebody holds it: it stays the same one while elements
/// around it come and go.
///
/// Concurrency: confined with its Realm; of a frozen one it never changes.
final class NestedPlace {
    /// Where it stands in what the Realm shows; nil once another value took its place.
    private(set) var standing: NestedSteps?
    /// What it was in the version that the Realm has pinned, where the running write changed that.
    private var before: NestedSteps??
    /// The write in which somebody asked for it.
    let madeIn: UInt32?

    init(_ standing: NestedSteps?, madeIn: UInt32? = nil) {
        self.standing = standing
        self.madeIn = madeIn
    }

    /// Where it stood in the version that the Realm has pinned.
    var pinned: NestedSteps? { before ?? standing }

    /// Goes elsewhere in the running write, or is no more.
    func move(to standing: NestedSteps?) {
        if before == nil { before = .some(self.standing) }
        self.standing = standing
    }

    /// The pinned version is what the Realm shows from now on.
    func settle(at standing: NestedSteps?) {
        self.standing = standing
        before = nil
    }

    func settle() { before = nil }

    /// The running write never was.
    func restore() {
        if let before { standing = before }
        before = nil
    }
}

/// What happens to the elements of a collection, as far as it matters where others stand in them.
enum NestedChange {
    case inserted(at: Int, count: Int)
    case removed(Range<Int>)
    /// Other values came in their place.
    case replaced(Range<Int>)
    case moved(Range<Int>, to: Int)
    /// A map's entry has another value, or none.
    case entry(String)
    case everything

    /// Where a step leads afterwards; nil when what it led to is gone.
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

/// All lists and maps in values of any type that somebody holds. It keeps none of them alive.
///
/// Concurrency: confined with its Realm.
final class NestedPlaces {
    /// The row and column whose values they stand in, by what keeps its meaning in every version.
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
    /// With more, those that nobody holds any more are forgotten.
    private var limit = 64
    /// Columns in which the running write changed where something stands.
    private var changed: Set<Holder> = []

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

    /// Elements of a collection change.
    /// - Parameter outer: the steps to it.
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

    /// The whole column gets another value.
    func noteReplaced(_ holder: Holder) {
        guard let known = places[holder] else { return }
        changed.insert(holder)
        for place in known.compactMap(\.place) { place.move(to: nil) }
    }

    /// The running write is rolled back. What was first asked for in it stands nowhere, where it changed the column.
    func rollBack(_ write: UInt32) {
        for (holder, known) in places {
            for place in known.compactMap(\.place) {
                place.restore()
                if place.madeIn == write, changed.contains(holder) { place.settle(at: nil) }
            }
        }
        changed = []
    }

    /// What the write made of them is what the Realm has pinned.
    func settle() {
        for known in places.values { for place in known { place.place?.settle() } }
        changed = []
    }

    // MARK: Between versions

    /// Finds out where they stand in another version.
    /// - Parameters:
    ///   - isPinned: whether the Realm has that version pinned, and not the one before.
    ///   - followed: where what stood somewhere in the one that is pinned stands now.
    func follow(isPinned: Bool, _ followed: (Holder, NestedSteps) -> NestedSteps?) {
        forget()
        for (holder, known) in places {
            for place in known.compactMap(\.place) {
                let standing = place.pinned.flatMap { $0.hasIndex ? followed(holder, $0) : $0 }
                if isPinned { place.settle(at: standing) } else { place.move(to: standing) }
            }
        }
        changed = []
    }
}
