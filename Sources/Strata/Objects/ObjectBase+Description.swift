extension ObjectBase {
    /// Class and key, for places where the object is one of many or may lead back.
    var _shortDescription: String {
        guard _frame != nil else { return "\(type(of: self).className()) (unmanaged)" }
        let access = _access
        if isInvalidated { return "\(access.name) (deleted, key \(_key))" }
        guard let primary = access.primary, primary.column >= 0 else { return "\(access.name) \(_key)" }
        return "\(access.name) \(_dynamicValue(primary.name).map { "\($0)" } ?? "nil")"
    }

    /// Every property that is not an inverse.
    var _propertyNames: [String] {
        _frame == nil
            ? ClassPlan.plan(for: type(of: self)).fields.filter(\.isStored).map(\.name)
            : _access.properties.filter { !$0.isLinkingObjects }.map(\.name)
    }

    /// One property per line. Objects that it leads to are named, embedded ones and unmanaged ones shown; what leads
    /// back to something that is being shown is named alone.
    func _describe(_ outer: [ObjectBase] = [], _ depth: Int = 0) -> String {
        if _frame != nil, isInvalidated { return _shortDescription }
        let name = _frame == nil ? type(of: self).className() : _access.name
        let indent = String(repeating: "\t", count: depth)
        let outer = outer + [self]
        var lines = ["\(name) {"]
        for property in _propertyNames {
            let shown = _shown(_flatten(_dynamicValue(property)), outer, depth + 1)
            lines.append("\(indent)\t\(property) = \(shown);")
        }
        return (lines + ["\(indent)}"]).joined(separator: "\n")
    }

    private func _shown(_ value: Any?, _ outer: [ObjectBase], _ depth: Int) -> String {
        guard let value else { return "nil" }
        if let object = value as? ObjectBase {
            let isShown = object._frame == nil || object is EmbeddedObject
            return isShown && depth < 5 && !outer.contains(where: { $0 === object })
                ? object._describe(outer, depth) : object._shortDescription
        }
        if let collection = value as? any UntypedCollection, collection.holdsObjects {
            return "\(collection.anyElements.count) elements"
        }
        return "\(value)"
    }
}
