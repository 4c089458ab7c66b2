/// That the values of a column are collections, and what stands in them: as much as storage has to know.
package struct CollectionColumn: Sendable, Equatable {
    /// What elements are, or the values of a map.
    package enum Element: UInt8, Sendable {
        /// Integers of any width, booleans, keys of rows.
        case integer = 1
        case double = 2
        case text = 3
        case data = 4
        /// Data in an order of the application's own, where the collection is sorted.
        case opaque = 5
        /// Values of any type, the number of which is their first byte: lists and maps may stand among them. In sets,
        /// where none do, they are in an order of the application's own.
        case any = 6
    }

    package var element: Element
    /// A map: each value has a key, which is text, and keys ascend by their bytes.
    package var isKeyed: Bool
    /// A set: its elements ascend, and each stands there once.
    package var isSorted: Bool
    /// Whether elements may be null.
    package var allowsNulls: Bool

    package init(_ element: Element, isKeyed: Bool = false, isSorted: Bool = false, allowsNulls: Bool = false) {
        self.element = element
        self.isKeyed = isKeyed
        self.isSorted = isSorted
        self.allowsNulls = allowsNulls
    }

    /// A list or a map that stands in an element.
    static func nested(isKeyed: Bool) -> CollectionColumn {
        CollectionColumn(.any, isKeyed: isKeyed, allowsNulls: true)
    }

    /// Whether lists and maps may stand in elements.
    package var takesNested: Bool { element == .any && !isSorted }

    /// Whether storage knows no order of sets.
    var isOrderedElsewhere: Bool { element == .opaque || element == .any }

    /// Set in the byte of the element where it may be null.
    private static let nullsBit: UInt8 = 128

    var elementCode: UInt8 { element.rawValue | (allowsNulls ? Self.nullsBit : 0) }

    /// Nil for a code that stands for no element.
    init?(elementCode: UInt8, isKeyed: Bool, isSorted: Bool) {
        guard let element = Element(rawValue: elementCode & ~Self.nullsBit) else { return nil }
        self.init(element, isKeyed: isKeyed, isSorted: isSorted, allowsNulls: elementCode & Self.nullsBit != 0)
    }

    /// Whether collections of this kind are ones of another kind as they stand: nothing differs but that elements may
    /// be null now, or that lists and maps may stand in them.
    func isKept(in other: CollectionColumn?) -> Bool {
        var widened = self
        if element == .opaque && other?.element == .any { widened.element = .any }
        widened.allowsNulls = other?.allowsNulls == true || allowsNulls
        return widened == other
    }

    /// Whether a column of this kind can hold such collections.
    func suits(_ column: ColumnDefinition) -> Bool {
        guard column.index == .none, !column.isOptional, !(isKeyed && isSorted) else { return false }
        switch column.type {
        case .bytes: return true
        case .links: return element == .integer && column.keepsPlaces == isKeyed && allowsNulls == isKeyed
        case .integer, .double, .link: return false
        }
    }
}
