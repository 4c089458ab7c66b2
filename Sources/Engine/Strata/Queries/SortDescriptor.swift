/// An order by one property, or by one at the end of links.
///
///     people.sorted(by: [SortDescriptor(keyPath: "boss.name"), SortDescriptor(keyPath: "age", ascending: false)])
public struct SortDescriptor: Hashable, Sendable {
    public let keyPath: String
    public let ascending: Bool
    /// The order of text; other values ignore it.
    public let order: TextOrder

    public init(keyPath: String, ascending: Bool = true) {
        self.init(keyPath: keyPath, ascending: ascending, order: .scalars)
    }

    public init(keyPath: String, ascending: Bool = true, order: TextOrder) {
        self.keyPath = keyPath
        self.ascending = ascending
        self.order = order
    }

    public init<Element: _RowElement>(keyPath: PartialKeyPath<Element>, ascending: Bool = true) {
        self.init(keyPath: _name(for: keyPath), ascending: ascending)
    }

    /// The same property in the other direction.
    public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending, order: order) }
}

extension SortDescriptor: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(keyPath: value) }
}

extension SortDescriptor: CustomStringConvertible {
    public var description: String { "SortDescriptor(keyPath: \(keyPath), direction: \(direction))" }
    /// In the form of ``Results/explain()``.
    var shown: String { "\(keyPath) \(direction)" }
    private var direction: String { (ascending ? "ascending" : "descending") + order.suffix }
}

/// An order of text.
///
/// The database's own orders are independent of the locale: files move between machines, and an order that changes with
/// a setting would invalidate earlier sorts. The application supplies the order of a language:
///
///     let german = TextOrder.custom("de") { $0.compare($1, locale: Locale(identifier: "de")) == .orderedAscending }
///     people.sorted(by: [SortDescriptor(keyPath: "name", order: german)])
public struct TextOrder: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case scalars
        case folded(TextOptions)
        case custom(Custom)
    }

    /// Equal if their names are.
    struct Custom: Hashable, Sendable {
        let name: String
        let areInOrder: @Sendable (String, String) -> Bool
        static func == (a: Custom, b: Custom) -> Bool { a.name == b.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    let kind: Kind

    /// By Unicode scalars, which is the order of UTF-8 bytes: `Z` before `a`, and `a` before `ä`. The fastest.
    public static let scalars = TextOrder(kind: .scalars)
    /// As ``scalars``, ignoring case: `a`, `B`, `c`.
    public static let ignoringCase = TextOrder(kind: .folded(.ignoringCase))
    /// As ``scalars``, ignoring case and accents: `a`, `Ä`, `b`.
    public static let ignoringCaseAndDiacritics = TextOrder(kind: .folded([.ignoringCase, .ignoringDiacritics]))

    /// An order of the application's own, such as one of a language.
    /// - Parameters:
    ///   - name: identifies the order; orders of one name must be the same.
    ///   - areInOrder: whether the first comes before the second; a strict weak order.
    public static func custom(
        _ name: String, _ areInOrder: @escaping @Sendable (String, String) -> Bool
    ) -> TextOrder { TextOrder(kind: .custom(Custom(name: name, areInOrder: areInOrder))) }

    fileprivate var suffix: String {
        switch kind {
        case .scalars: return ""
        case .folded(let options): return options == .ignoringCase ? " [c]" : " [cd]"
        case .custom(let custom): return " by '\(custom.name)'"
        }
    }
}
