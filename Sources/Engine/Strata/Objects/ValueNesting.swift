/// Limits how deep dictionaries and lists are nested in a value of the program.
enum ValueNesting {
    /// Whether more than `limit` collections are nested inside one another. Reads no deeper than `limit`, so a
    /// collection that contains itself ends, too.
    static func isDeeper(_ value: Any?, than limit: Int) -> Bool {
        switch _flatten(value) {
        case let entries as [String: Any]:
            return limit == 0 || entries.contains { isDeeper($0.value, than: limit - 1) }
        case let elements as [Any]: return limit == 0 || elements.contains { isDeeper($0, than: limit - 1) }
        case let collection as any _ColumnCollection:
            let elements = ElementConversion.elements(collection) ?? []
            return limit == 0 || elements.contains { isDeeper($0, than: limit - 1) }
        case let any as AnyRealmValue:
            switch any {
            case .list, .dictionary: return isDeeper(any.content, than: limit)
            default: return false
            }
        default: return false
        }
    }
}
