#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Realm {
    /// As ``create(_:value:update:)``, from a JSON object.
    ///
    /// Dates are ISO 8601 text, data is base64, identifiers and decimals are text. Names that the class does not have
    /// are ignored; of two members with one name the first counts. Objects and lists may be nested 500 deep.
    /// - Throws: ``Realm/Error`` with `invalidInput`, line and column if the text is no JSON, or nested deeper, and if
    ///   it is no object. A value that a property cannot hold fails the write, with line and column.
    @discardableResult
    public func create<Element: Object>(
        _ type: Element.Type, json: Data, update: UpdatePolicy = .error
    ) throws -> Element {
        try JSONInput.read(json) { cursor, lines in
            guard cursor.kind() == .object else {
                throw RealmError(
                    .invalidInput, "a \(type.className()) is made from a JSON object; for a list use createAll")
            }
            guard var objects = objects(type, update, lines) else {
                return create(type, value: cursor.value(), update: update)
            }
            return unsafeDowncast(objects.create(&cursor), to: type)
        }
    }

    /// Creates an object for each element of a JSON list, in its order. The whole list is checked first: a text that
    /// is no JSON creates nothing.
    /// - Throws: as ``create(_:json:update:)``.
    @discardableResult
    public func createAll<Element: Object>(
        _ type: Element.Type, json: Data, update: UpdatePolicy = .error
    ) throws -> [Element] {
        try JSONInput.read(json) { cursor, lines in
            guard cursor.kind() == .list else {
                throw RealmError(.invalidInput, "the JSON is no list; for a single object use create")
            }
            var made: [Element] = []
            cursor.enter()
            guard cursor.hasElement() else { return made }
            guard var objects = objects(type, update, lines) else {
                repeat {
                    made.append(create(type, value: cursor.value(), update: update))
                } while cursor.hasElement()
                return made
            }
            repeat {
                made.append(unsafeDowncast(objects.create(&cursor), to: type))
            } while cursor.hasElement()
            return made
        }
    }

    /// Nil for a class that this Realm does not have, and without a write: ``create(_:value:update:)`` says what is
    /// wrong then.
    private func objects<Element: Object>(
        _ type: Element.Type, _ policy: UpdatePolicy, _ lines: TextLines
    ) -> JSONObjects? {
        guard let access = instance.access(for: type), let write = instance.requireWrite(access.name) else {
            return nil
        }
        return JSONObjects(write: write, access: access, policy: policy, lines: lines)
    }
}
