import StrataStorage

/// The values at the end of a path into the nested lists and maps of a value of any type.
struct NestedValues {
    private let property: BoundProperty
    private let parts: ArraySlice<Predicate.MapPart>

    init(_ step: BoundPath.Step) {
        property = step.property
        parts = (step.isEntry ? [step.part] + step.inside : step.inside)[...]
    }

    /// - Complexity: O(log elements) for each index and key; O(elements) for a part that is all elements.
    func all(_ view: ReadView, _ row: RowLocation, _ key: Int64) throws(StorageError) -> [_StoredValue] {
        guard property.column >= 0,
            let root = try NestedReading(view: view, tag: property.tag).root(row, key, property.column)
        else { return [] }
        var values: [_StoredValue] = []
        try gather(root, parts, &values)
        for (place, value) in values.enumerated() { values[place] = try view.shown(comparable: value) }
        try view.confirm()
        return values
    }

    private func gather(
        _ reader: CollectionReader, _ parts: ArraySlice<Predicate.MapPart>, _ values: inout [_StoredValue]
    ) throws(StorageError) {
        switch parts.first {
        case .index(let place):
            try gather(in: reader, at: try reader.place(of: .index(place)), along: parts, into: &values)
        case .entry(let key): try gather(in: reader, at: try reader.place(of: .key(key)), along: parts, into: &values)
        case .each: for place in 0..<reader.count { try gather(in: reader, at: place, along: parts, into: &values) }
        case .keys, .values, nil: return
        }
    }

    /// - Parameter place: of an element; nil if there is none.
    private func gather(
        in reader: CollectionReader, at place: Int?, along parts: ArraySlice<Predicate.MapPart>,
        into values: inout [_StoredValue]
    ) throws(StorageError) {
        guard let place else { return }
        let rest = parts.dropFirst()
        if !rest.isEmpty {
            if let inner = try reader.nested(at: place) { try gather(inner, rest, &values) }
            return
        }
        let value = try reader.anyValue(try reader.part(at: place), place)
        values.append(CollectionValues.comparable(value, property.tag))
    }
}
