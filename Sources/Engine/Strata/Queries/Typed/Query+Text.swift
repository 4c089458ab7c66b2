#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How text is compared.
public struct StringOptions: OptionSet, Sendable {
    public let rawValue: Int8
    public init(rawValue: Int8) { self.rawValue = rawValue }
    /// Ignores case, by the full case mappings of Unicode, in every locale.
    public static let caseInsensitive = StringOptions(rawValue: 1)
    /// Ignores accents: `e` is `é`.
    public static let diacriticInsensitive = StringOptions(rawValue: 2)

    var textOptions: TextOptions {
        var options = TextOptions()
        if contains(.caseInsensitive) { options.insert(.ignoringCase) }
        if contains(.diacriticInsensitive) { options.insert(.ignoringDiacritics) }
        return options
    }
}

/// Text and data, optional or not, and types stored as such. Options apply to text; data is compared by its bytes.
extension Query where Value: _HasPersistedType, Value.PersistedType: _QueryBinary {
    public func contains(_ value: Value, options: StringOptions = []) -> Query<Bool> {
        compare(.contains, value._queryConstant, options)
    }
    public func starts(with value: Value, options: StringOptions = []) -> Query<Bool> {
        compare(.beginsWith, value._queryConstant, options)
    }
    public func ends(with value: Value, options: StringOptions = []) -> Query<Bool> {
        compare(.endsWith, value._queryConstant, options)
    }
    public func equals(_ value: Value, options: StringOptions = []) -> Query<Bool> {
        compare(.equal, value._queryConstant, options)
    }
    public func notEquals(_ value: Value, options: StringOptions = []) -> Query<Bool> {
        compare(.notEqual, value._queryConstant, options)
    }

    public func contains<Other: _HasPersistedType>(_ other: Query<Other>, options: StringOptions = []) -> Query<Bool>
    where Other.PersistedType: _QueryBinary { compare(.contains, other.expression, options.textOptions) }

    public func starts<Other: _HasPersistedType>(
        with other: Query<Other>, options: StringOptions = []
    ) -> Query<Bool>
    where Other.PersistedType: _QueryBinary { compare(.beginsWith, other.expression, options.textOptions) }

    public func ends<Other: _HasPersistedType>(with other: Query<Other>, options: StringOptions = []) -> Query<Bool>
    where Other.PersistedType: _QueryBinary { compare(.endsWith, other.expression, options.textOptions) }

    public func equals<Other: _HasPersistedType>(_ other: Query<Other>, options: StringOptions = []) -> Query<Bool>
    where Other.PersistedType: _QueryBinary { compare(.equal, other.expression, options.textOptions) }

    public func notEquals<Other: _HasPersistedType>(_ other: Query<Other>, options: StringOptions = []) -> Query<Bool>
    where Other.PersistedType: _QueryBinary { compare(.notEqual, other.expression, options.textOptions) }
}

extension Query where Value: _HasPersistedType, Value.PersistedType: _QueryString {
    /// `?` matches one character, `*` any number of them; neither can be escaped.
    public func like(_ value: Value, caseInsensitive: Bool = false) -> Query<Bool> {
        compare(.like, value._queryConstant, caseInsensitive ? .caseInsensitive : [])
    }
    public func like(_ value: Value, options: StringOptions) -> Query<Bool> {
        compare(.like, value._queryConstant, options)
    }
    public func like<Other: _HasPersistedType>(_ other: Query<Other>, caseInsensitive: Bool = false) -> Query<Bool>
    where Other.PersistedType: _QueryString {
        compare(.like, other.expression, caseInsensitive ? .ignoringCase : [])
    }
}

/// Data properties, optional or not.
public protocol _QueryData {}
extension Data: _QueryData {}
extension Optional: _QueryData where Wrapped == Data {}

extension Query where Value: _QueryData {
    @_disfavoredOverload
    public func contains<Bytes: Sequence<UInt8>>(_ bytes: Bytes) -> Query<Bool> { compare(.contains, data(bytes)) }
    @_disfavoredOverload
    public func starts<Bytes: Sequence<UInt8>>(with bytes: Bytes) -> Query<Bool> { compare(.beginsWith, data(bytes)) }
    @_disfavoredOverload
    public func ends<Bytes: Sequence<UInt8>>(with bytes: Bytes) -> Query<Bool> { compare(.endsWith, data(bytes)) }

    private func data(_ bytes: some Sequence<UInt8>) -> _QueryConstant { _QueryConstant(.bytes(Array(bytes)), .data) }
}
