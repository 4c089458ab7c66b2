/// Cache of the last queries inside a write and their results. A loop may make its results anew in each turn:
///
///     while let item = list.filter("isOpen == true").first { ... }
///
/// Then each turn starts with the keys that the turn before found.
///
/// It is dropped with its write, and keeps no object alive: an object would keep the Realm alive, and a write that ends
/// only when its Realm is dropped would never end.
final class KeptSources: WriteMemory {
    private var entries: [Entry] = []
    private static let most = 4

    /// The result of a query.
    struct Found {
        let keys: (stamp: UInt64, keys: [Int64])
        let dependencies: (stamp: UInt64, dependencies: ResultDependencies?)?
    }

    private struct Entry {
        let question: Question
        let found: Found
    }

    private struct Question {
        let access: ObjectIdentifier
        /// For a list: its owner's row and the property.
        let list: ListPlace?
        let steps: [ObjectSource.Step]

        /// Nil for a query that is not cached.
        init?(_ source: ObjectSource) {
            switch source.base {
            case .table: list = nil
            case .list(let owner, let property):
                list = ListPlace(
                    table: owner._access.table, key: owner._key, creation: owner._creation, property: property)
            case .backlinks, .keys: return nil
            }
            for step in source.steps { if case .filter(let predicate) = step, predicate.namesObjects { return nil } }
            access = ObjectIdentifier(source.access)
            steps = source.steps
        }

        /// Whether both are the same query; false also if that cannot be told.
        func isSame(as other: Question) -> Bool {
            access == other.access && list == other.list && steps.areSame(as: other.steps)
        }
    }

    private struct ListPlace: Equatable {
        let table: Int
        let key: Int64
        let creation: UInt64
        let property: Int
    }

    /// The cached result of the same query; nil if there is none. The entry leaves the cache: the caller has the only
    /// reference to the keys then, and changes them in place.
    func take(_ source: ObjectSource) -> Found? {
        guard !entries.isEmpty, let question = Question(source),
            let place = entries.firstIndex(where: { $0.question.isSame(as: question) })
        else { return nil }
        return entries.remove(at: place).found
    }

    /// Adds a result, and drops the least recently used one.
    func keep(_ source: ObjectSource) {
        guard let keys = source.cache, let question = Question(source) else { return }
        entries.removeAll { $0.question.isSame(as: question) }
        if entries.count == Self.most { entries.removeFirst() }
        entries.append(Entry(question: question, found: Found(keys: keys, dependencies: source.knownDependencies)))
    }
}

extension [ObjectSource.Step] {
    /// Whether both are the same filters and sorts; false also if that cannot be told.
    func areSame(as other: Self) -> Bool {
        guard count == other.count else { return false }
        return zip(self, other).allSatisfy { step, other in
            switch (step, other) {
            case (.filter(let predicate), .filter(let otherPredicate)): predicate.isSame(as: otherPredicate)
            case (.sort(let descriptors), .sort(let otherDescriptors)): descriptors == otherDescriptors
            default: false
            }
        }
    }
}

extension Predicate {
    /// Whether an object is among the operands.
    fileprivate var namesObjects: Bool {
        switch self {
        case .constant, .tooDeep: false
        case .not(let inner): inner.namesObjects
        case .and(let parts), .or(let parts): parts.contains(where: \.namesObjects)
        case .comparison(let comparison): comparison.left.namesObjects || comparison.right.namesObjects
        }
    }

    /// Whether both have the same parts in the same order. Subqueries and shapes are not compared, and count as
    /// different.
    fileprivate func isSame(as other: Predicate) -> Bool {
        switch (self, other) {
        case (.constant(let value), .constant(let otherValue)): value == otherValue
        case (.not(let inner), .not(let otherInner)): inner.isSame(as: otherInner)
        case (.and(let parts), .and(let otherParts)), (.or(let parts), .or(let otherParts)):
            parts.count == otherParts.count && zip(parts, otherParts).allSatisfy { $0.isSame(as: $1) }
        case (.comparison(let comparison), .comparison(let otherComparison)): comparison.isSame(as: otherComparison)
        default: false
        }
    }
}

extension Predicate.Comparison {
    fileprivate func isSame(as other: Predicate.Comparison) -> Bool {
        comparator == other.comparator && options == other.options && quantifier == other.quantifier
            && isQuantified == other.isQuantified && left.isSame(as: other.left) && right.isSame(as: other.right)
    }
}

extension Predicate.Expression {
    fileprivate var namesObjects: Bool {
        switch self {
        case .object, .members: true
        case .values(let parts): parts.contains(where: \.namesObjects)
        case .subquery(_, _, let inner): inner.namesObjects
        case .path, .aggregate, .value, .shape: false
        }
    }

    fileprivate func isSame(as other: Predicate.Expression) -> Bool {
        switch (self, other) {
        case (.path(let path), .path(let otherPath)): path == otherPath
        case (.aggregate(let path, let aggregate), .aggregate(let otherPath, let otherAggregate)):
            path == otherPath && aggregate == otherAggregate
        case (.value(let constant), .value(let otherConstant)): constant.isSame(as: otherConstant)
        case (.values(let parts), .values(let otherParts)):
            parts.count == otherParts.count && zip(parts, otherParts).allSatisfy { $0.isSame(as: $1) }
        default: false
        }
    }
}

extension Predicate.Constant {
    /// Text is compared by its bytes: two encodings of a letter make two queries.
    fileprivate func isSame(as other: Predicate.Constant) -> Bool {
        guard type == other.type, link == other.link else { return false }
        if case .text(let text) = stored, case .text(let otherText) = other.stored {
            return text.utf8.elementsEqual(otherText.utf8)
        }
        return stored == other.stored
    }
}
