#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How text is compared.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Upper and lower case are the same, by the full case mappings of Unicode, in every locale.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Accents do not count: `e` is `é`.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)

    var textOptions: TextOptions {
        var options = TextOptions()
        if contains(.caseInsensitive) { options.insert(.ignoringCase) }
        if contains(.diacriticInsensitive) { options.insert(.ignoringDiacritics) }
        return options
    }
}

/// Text properties, optional or not.
public protocol _QueryText {}
extension String: _QueryText {}
extension Optional: _QueryText where Wrapped == String {}

extension Query where Value: _QueryText {
    public func contains(_ text: String, options: StringOptions = []) -> Query<Bool> { match(.contains, text, options) }
    public func starts(with text: String, options: StringOptions = []) -> Query<Bool> {
        match(.beginsWith, text, options)
    }
    public func ends(with text: String, options: StringOptions = []) -> Query<Bool> { match(.endsWith, text, options) }
    /// `?` stands for one character, `*` for any number of them; neither can be escaped.
    public func like(_ text: String, caseInsensitive: Bool = false) -> Query<Bool> {
        match(.like, text, caseInsensitive ? .caseInsensitive : [])
    }
    public func like(_ text: String, options: StringOptions) -> Query<Bool> { match(.like, text, options) }
    public func equals(_ text: String, options: StringOptions = []) -> Query<Bool> { match(.equal, text, options) }
    public func notEquals(_ text: String, options: StringOptions = []) -> Query<Bool> {
        match(.notEqual, text, options)
    }

    public func contains<Text: _QueryText>(_ other: Query<Text>, options: StringOptions = []) -> Query<Bool> {
        compare(.contains, other.expression, options.textOptions)
    }
    public func starts<Text: _QueryText>(with other: Query<Text>, options: StringOptions = []) -> Query<Bool> {
        compare(.beginsWith, other.expression, options.textOptions)
    }
    public func ends<Text: _QueryText>(with other: Query<Text>, options: StringOptions = []) -> Query<Bool> {
        compare(.endsWith, other.expression, options.textOptions)
    }
    public func like<Text: _QueryText>(_ other: Query<Text>, caseInsensitive: Bool = false) -> Query<Bool> {
        compare(.like, other.expression, caseInsensitive ? .ignoringCase : [])
    }
    public func equals<Text: _QueryText>(_ other: Query<Text>, options: StringOptions = []) -> Query<Bool> {
        compare(.equal, other.expression, options.textOptions)
    }
    public func notEquals<Text: _QueryText>(_ other: Query<Text>, options: StringOptions = []) -> Query<Bool> {
        compare(.notEqual, other.expression, options.textOptions)
    }

    private func match(_ comparator: Predicate.Comparator, _ text: String, _ options: StringOptions) -> Query<Bool> {
        compare(comparator, .value(.init(.text(text), .string)), options.textOptions)
    }
}

/// Data properties, optional or not: text operators compare bytes.
public protocol _QueryData {}
extension Data: _QueryData {}
extension Optional: _QueryData where Wrapped == Data {}

extension Query where Value: _QueryData {
    public func contains<Bytes: Sequence<UInt8>>(_ bytes: Bytes) -> Query<Bool> { compare(.contains, data(bytes)) }
    public func starts<Bytes: Sequence<UInt8>>(with bytes: Bytes) -> Query<Bool> { compare(.beginsWith, data(bytes)) }
    public func ends<Bytes: Sequence<UInt8>>(with bytes: Bytes) -> Query<Bool> { compare(.endsWith, data(bytes)) }

    private func data(_ bytes: some Sequence<UInt8>) -> _StoredValue { .bytes(Array(bytes)) }
}
