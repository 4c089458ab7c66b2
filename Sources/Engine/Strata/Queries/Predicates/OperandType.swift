/// The type of an operand's values, as far as comparisons distinguish it.
enum OperandType: CustomStringConvertible {
    /// A number of any type, such as an aggregate gives.
    case number
    case scalar(PropertyType)
    /// Objects of a class; nil if the class is unknown.
    case link(ClassAccess?)

    init(_ path: BoundPath) {
        guard let last = path.steps.last else {
            self = .link(path.root)
            return
        }
        if last.part == .keys {
            self = .scalar(.string)
            return
        }
        switch last.property.tag.type {
        case .object, .linkingObjects: self = .link(last.target)
        default: self = .scalar(last.property.tag.type)
        }
    }

    var description: String {
        switch self {
        case .number: return "a number"
        case .scalar(let type): return "\(type)"
        case .link(let access): return "an object\(access.map { " of '\($0.name)'" } ?? "")"
        }
    }

    var isNumber: Bool {
        switch self {
        case .number: return true
        case .scalar(let type): return [.int, .bool, .float, .double, .decimal128, .any].contains(type)
        case .link: return false
        }
    }

    var isAny: Bool {
        if case .scalar(.any) = self { return true }
        return false
    }

    /// Whether properties of the type compare with values of any type without conversion.
    var comparesAsAny: Bool {
        switch self {
        case .number: return true
        case .scalar(let type): return [.int, .float, .double, .decimal128, .string, .any].contains(type)
        case .link: return false
        }
    }

    var isText: Bool {
        if case .scalar(let type) = self { return type == .string || type == .any }
        return false
    }

    func compares(with other: OperandType) -> Bool {
        switch (self, other) {
        case (.link(let a), .link(let b)): return a == nil || b == nil || a?.name == b?.name
        case (.scalar(.any), _), (_, .scalar(.any)): return true
        case (.scalar(let a), .scalar(let b)) where a == b: return true
        default: return isNumber && other.isNumber
        }
    }

    /// Checks that values of a type can be compared by a comparator.
    /// - Parameter shown: the operand as messages show it.
    /// - Throws: `invalidInput` if they cannot.
    static func check(
        _ comparator: Predicate.Comparator, _ type: OperandType, _ shown: @autoclosure () -> String
    ) throws(RealmError) {
        if comparator.isTextual {
            switch type {
            case .scalar(.string), .scalar(.data), .scalar(.any): return
            default:
                throw RealmError(
                    .invalidInput, "\(comparator.symbol) needs text or data; '\(shown())' is \(type)")
            }
        }
        if comparator.isOrdering, case .link = type {
            throw RealmError(
                .invalidInput, "objects have no order: '\(shown())' can be compared with ==, != and IN")
        }
    }

    /// The constant as a value of this type.
    /// - Throws: `invalidInput` for a constant that no value of the type is compared with.
    func fitted(
        _ constant: Predicate.Constant, _ shown: @autoclosure () -> String
    ) throws(RealmError) -> _StoredValue {
        let isNumber = constant.stored.number != nil && constant.type != .date
        switch (self, constant.stored) {
        case (_, .null): return constant.stored
        case _ where constant.type == .any:
            throw RealmError(
                .invalidInput,
                "'\(shown())' cannot be compared with a list or a dictionary; ask its elements: value[0], value['key']")
        case (.scalar(.any), .link):
            guard let link = constant.link else { return constant.stored }
            return AnyComparable.link(table: link.table, key: link.key, creation: link.creation)
        case (.scalar(.any), _): return AnyComparable.value(constant.stored, constant.type)
        case (.number, _) where isNumber: return constant.stored
        case (.scalar(.float), .double(let value)) where isNumber: return .double(Double(Float(value)))
        case (.scalar(.int), _) where isNumber, (.scalar(.bool), _) where isNumber,
            (.scalar(.float), _) where isNumber, (.scalar(.double), _) where isNumber,
            (.scalar(.decimal128), _) where isNumber:
            return constant.stored
        case (.scalar(.date), .double) where constant.type == .date || constant.type == nil: return constant.stored
        case (.scalar(.string), .text): return constant.stored
        case (.scalar(let type), .bytes) where constant.type == type || constant.type == nil: return constant.stored
        case (.link, .link): return constant.stored
        default:
            throw RealmError(
                .invalidInput,
                "'\(shown())' is \(self) and cannot be compared with \(constant.described)")
        }
    }
}

extension Predicate.Constant {
    var described: String {
        switch stored {
        case .null: return "nil"
        case .text(let text): return "the text '\(text)'"
        case .integer(let value): return type == .bool ? "a boolean" : "the number \(value)"
        case .double(let value): return type == .date ? "a date" : "the number \(value)"
        case .bytes: return type == .UUID ? "a UUID" : type == .objectId ? "an ObjectId" : "data"
        case .decimal(let value): return "the number \(value)"
        case .link: return "an object"
        }
    }
}

/// Similar names, for suggestions in messages.
enum NearMatches {
    /// At most three, the nearest first: at most two edits apart, one in short names, or different only in case.
    static func of(_ name: String, among known: [String]) -> [String] {
        let limit = name.count <= 3 ? 1 : 2
        let lowered = name.lowercased()
        return known.map { (name: $0, distance: distance(lowered, $0.lowercased(), limit)) }
            .filter { $0.distance <= limit }
            .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }
            .prefix(3).map(\.name)
    }

    /// Edits between two words: letters inserted, deleted, changed or exchanged with the next.
    /// - Complexity: O(a x b), for names, which are short.
    private static func distance(_ a: String, _ b: String, _ limit: Int) -> Int {
        let a = Array(a.prefix(80))
        let b = Array(b.prefix(80))
        guard abs(a.count - b.count) <= limit else { return limit + 1 }
        var before: [Int] = []
        var last = Array(0...b.count)
        for (row, letter) in a.enumerated() {
            var current = [row + 1]
            for (column, other) in b.enumerated() {
                var best = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, letter == b[column - 1], a[row - 1] == other {
                    best = min(best, before[column - 1] + 1)
                }
                current.append(best)
            }
            before = last
            last = current
        }
        return last[b.count]
    }
}

extension ColumnTag {
    /// Whether equality and order of the values differ from those of their bytes.
    var comparesByItself: Bool { type == .any || type == .decimal128 }
}

extension BoundProperty {
    /// The objects of a class that link here by a property, without a property of linking objects in this class.
    static func inverse(of name: String, in className: String) -> BoundProperty {
        BoundProperty(
            name: "@links.\(className).\(name)", tag: ColumnTag(_PropertyShape(.linkingObjects), isPrimary: false),
            column: Int(ColumnSlot.computed), target: className, origin: name, deleteRule: .nullify, isIndexed: false,
            isParental: false, offset: 0)
    }
}

extension Predicate {
    /// The predicate as one about the objects that a variable stands for; nil if it refers to other objects.
    func standing(for variable: String) -> Predicate? {
        switch self {
        case .constant, .tooDeep: return self
        case .not(let inner): return inner.standing(for: variable).map { .not($0) }
        case .and(let parts), .or(let parts):
            let made = parts.compactMap { $0.standing(for: variable) }
            guard made.count == parts.count else { return nil }
            if case .and = self { return .and(PredicateParts(made)) }
            return .or(PredicateParts(made))
        case .comparison(var comparison):
            guard let left = comparison.left.standing(for: variable),
                let right = comparison.right.standing(for: variable)
            else { return nil }
            comparison.left = left
            comparison.right = right
            return .comparison(comparison)
        }
    }
}

extension Predicate.Expression {
    fileprivate func standing(for variable: String) -> Self? {
        func moved(_ path: Predicate.Path) -> Predicate.Path? {
            guard path.variable == variable else { return nil }
            var copy = path
            copy.variable = nil
            return copy
        }
        switch self {
        case .value, .object, .members, .shape: return self
        case .path(let path): return moved(path).map { .path($0) }
        case .aggregate(let path, let aggregate): return moved(path).map { .aggregate($0, aggregate) }
        case .values(let parts):
            let made = parts.compactMap { $0.standing(for: variable) }
            return made.count == parts.count ? .values(made) : nil
        // Variables of an inner subquery would need renaming, which is not worth it.
        case .subquery: return nil
        }
    }
}
