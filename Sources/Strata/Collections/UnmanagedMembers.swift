/// What a collection takes for the same element, managed or not: what its column would hold. So text is compared by its
/// bytes, where Swift takes two spellings of one character for the same, and NaN is one value, where Swift takes it for
/// none.
enum ElementIdentity: Hashable {
    case value(DistinctValue)
    /// An object that no Realm manages.
    case instance(ObjectIdentifier)
    /// A managed object, by its row.
    case row(ObjectBase)
    /// A collection in a value of any type.
    case nested(AnyRealmValue)

    init<Element: RealmCollectionValue>(_ element: Element) {
        if let object = element._elementObject {
            self = object._frame == nil ? .instance(ObjectIdentifier(object)) : .row(object)
            return
        }
        if Element.self == AnyRealmValue.self, let value = element as? AnyRealmValue {
            switch value {
            case .list, .dictionary:
                self = .nested(value)
                return
            default: break
            }
        }
        self = .value(DistinctValue(element._encodeElement(.unmanaged)))
    }

    /// Where an element of the library's own types stands first among others; the outer nil for a type whose own
    /// equality decides.
    static func place<Element: RealmCollectionValue>(of element: Element, in elements: [Element]) -> Int?? {
        guard element is any _Scalar || element is AnyRealmValue else { return nil }
        let wanted = Self(element)
        return .some(elements.firstIndex { Self($0) == wanted })
    }
}

/// The members of a set that no Realm manages: each once, in the order in which they came as long as none goes.
struct UnmanagedMembers<Element: RealmCollectionValue> {
    private(set) var elements: [Element] = []
    private var places: [ElementIdentity: Int] = [:]
    /// How many members were objects that no Realm managed when they came. A Realm may manage them since, so that they
    /// are known by their rows.
    private var instances = 0

    /// - Complexity: O(1); O(members) for a managed object in a set with members that were not managed when they came.
    func place(of element: Element) -> Int? {
        let identity = ElementIdentity(element)
        #if Zoo
            if PlantedMistake.setSearched.isPlanted {
                let place = elements.firstIndex { ElementIdentity($0) == identity }
                WorkSteps.note(place ?? elements.count)
                return place
            }
        #endif
        WorkSteps.note(1)
        if let place = places[identity] { return place }
        guard instances > 0, case .row(let object) = identity else { return nil }
        WorkSteps.note(elements.count)
        return elements.firstIndex { $0._elementObject == object }
    }

    /// - Returns: false where it is a member.
    @discardableResult
    mutating func insert(_ element: Element) -> Bool {
        if place(of: element) != nil { return false }
        let identity = ElementIdentity(element)
        if case .instance = identity { instances += 1 }
        places[identity] = elements.count
        elements.append(element)
        return true
    }

    /// Puts the last member in the place of the one that goes.
    mutating func remove(_ element: Element) {
        guard let place = place(of: element) else { return }
        let last = elements.removeLast()
        // Members that a Realm manages since stand under what they were.
        guard instances == 0 else {
            if place < elements.count { elements[place] = last }
            return self = Self(elements)
        }
        places[ElementIdentity(element)] = nil
        guard place < elements.count else { return }
        elements[place] = last
        places[ElementIdentity(last)] = place
    }

    init() {}

    init(_ elements: some Sequence<Element>) { for element in elements { insert(element) } }
}
