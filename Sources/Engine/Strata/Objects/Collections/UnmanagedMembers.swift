/// Identity of an element, managed or not, by its stored form. So text is compared bytewise, where Swift treats
/// canonically equivalent texts as equal, and NaN equals itself, where Swift's NaN does not.
enum ElementIdentity: Hashable {
    case value(DistinctValue)
    /// An unmanaged object.
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

    /// The first place of an element of the library's own types; the outer nil for a type with an equality of its own.
    static func place<Element: RealmCollectionValue>(of element: Element, in elements: [Element]) -> Int?? {
        guard element is any _Scalar || element is AnyRealmValue else { return nil }
        let wanted = Self(element)
        return .some(elements.firstIndex { Self($0) == wanted })
    }
}

/// The members of an unmanaged set: unique, and in the order of insertion until one is removed.
struct UnmanagedMembers<Element: RealmCollectionValue> {
    private(set) var elements: [Element] = []
    private var places: [ElementIdentity: Int] = [:]
    /// Number of members that were unmanaged objects when they were inserted. They may be managed since, and then their
    /// identity is their row.
    private var instances = 0

    /// - Complexity: O(1); O(members) for a managed object in a set with members that were unmanaged when inserted.
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

    /// - Returns: false if it is a member already.
    @discardableResult
    mutating func insert(_ element: Element) -> Bool {
        if place(of: element) != nil { return false }
        let identity = ElementIdentity(element)
        if case .instance = identity { instances += 1 }
        places[identity] = elements.count
        elements.append(element)
        return true
    }

    /// The last member replaces the removed one.
    mutating func remove(_ element: Element) {
        guard let place = place(of: element) else { return }
        let last = elements.removeLast()
        // Members that became managed after they were inserted are filed under their old identity: all are filed again.
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
