/// Describes the collections of a column, as far as storage needs to know them.
package struct CollectionColumn: Sendable, Equatable {
    /// Type of the elements, or of a map's values.
    package enum Element: UInt8, Sendable {
        /// Integers of any width, booleans, keys of rows.
        case integer = 1
        case double = 2
        case text = 3
        case data = 4
        /// Data in an order that the application defines, if the collection is sorted.
        case opaque = 5
        /// Values of any type, whose first byte is the type's number. Lists and maps may be among them. In sets, where
        /// they may not, elements have an order that the application defines.
        case any = 6
    }

    package var element: Element
    /// A map: each value has a text as its key, and keys ascend bytewise.
    package var isKeyed: Bool
    /// A set: its elements ascend, without duplicates.
    package var isSorted: Bool
    /// Whether elements may be null.
    package var allowsNulls: Bool

    package init(_ element: Element, isKeyed: Bool = false, isSorted: Bool = false, allowsNulls: Bool = false) {
        self.element = element
        self.isKeyed = isKeyed
        self.isSorted = isSorted
        self.allowsNulls = allowsNulls
    }

    /// An inner collection.
    static func nested(isKeyed: Bool) -> CollectionColumn {
        CollectionColumn(.any, isKeyed: isKeyed, allowsNulls: true)
    }

    /// Whether elements may be inner collections.
    package var takesNested: Bool { element == .any && !isSorted }

    /// Whether the application defines the order of sets.
    var isOrderedElsewhere: Bool { element == .opaque || element == .any }

    /// Set in the element's code if elements may be null.
    private static let nullsBit: UInt8 = 128

    var elementCode: UInt8 { element.rawValue | (allowsNulls ? Self.nullsBit : 0) }

    /// Nil for an unknown code.
    init?(elementCode: UInt8, isKeyed: Bool, isSorted: Bool) {
        guard let element = Element(rawValue: elementCode & ~Self.nullsBit) else { return nil }
        self.init(element, isKeyed: isKeyed, isSorted: isSorted, allowsNulls: elementCode & Self.nullsBit != 0)
    }

    /// Whether collections of this kind are valid for another kind without conversion: the only differences are that
    /// elements may be null now, or be inner collections.
    func isKept(in other: CollectionColumn?) -> Bool {
        var widened = self
        if element == .opaque && other?.element == .any { widened.element = .any }
        widened.allowsNulls = other?.allowsNulls == true || allowsNulls
        return widened == other
    }

    /// Whether a column with this definition can hold such collections.
    func suits(_ column: ColumnDefinition) -> Bool {
        guard column.index == .none, !column.isOptional, !(isKeyed && isSorted) else { return false }
        switch column.type {
        case .bytes: return true
        case .links: return element == .integer && column.keepsPlaces == isKeyed && allowsNulls == isKeyed
        case .integer, .double, .link: return false
        }
    }
}
