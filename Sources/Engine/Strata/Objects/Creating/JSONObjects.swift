import StrataStorage

/// Creates objects of a class from JSON objects: each plain value goes from the text into its field.
struct JSONObjects {
    private let write: RunningWrite
    private let access: ClassAccess
    private let policy: Realm.UpdatePolicy
    private let lines: TextLines
    /// For each property the number of the JSON object that last had a member for it: of two members with one name in
    /// an object, the first counts.
    private var namedBy: [Int]
    private var number = 0

    init(write: RunningWrite, access: ClassAccess, policy: Realm.UpdatePolicy, lines: TextLines) {
        self.write = write
        self.access = access
        self.policy = policy
        self.lines = lines
        namedBy = Array(repeating: 0, count: access.properties.count)
    }

    /// Creates an object from the value at the cursor, or updates the one with its primary key.
    mutating func create(_ cursor: inout JSONCursor) -> ObjectBase {
        let hadFailed = write.failure != nil
        let isObject = cursor.kind() == .object
        let start = cursor
        var misfit: Int?
        if isObject, let draft = fill(&cursor, &misfit), policy == .error || isNew(draft) {
            let made = ObjectMaker(write).add(draft, access, policy)
            if !hadFailed { noteFailure(start.place) }
            return made
        }
        // Again as from a dictionary: that updates an existing object, and finds the error for a value that does not
        // fit.
        cursor = start
        let made = ObjectMaker(write).create(access, cursor.value(), policy)
        if !hadFailed { noteFailure(misfit ?? start.place) }
        return made
    }

    private func noteFailure(_ place: Int) {
        if write.failure != nil { write.locateFailure("at \(lines.position(of: place)) of the JSON") }
    }

    /// Fills a new object with the members of the JSON object at the cursor.
    /// - Parameter misfit: set to the place of a value that does not fit.
    /// - Returns: nil if a value does not fit.
    private mutating func fill(_ cursor: inout JSONCursor, _ misfit: inout Int?) -> ObjectDraft? {
        guard var draft = ObjectDraft(access, write) else { return nil }
        let setters = draft.setters
        number += 1
        cursor.enter()
        while cursor.hasMember() {
            guard let place = cursor.name({ setters.place(ofUTF8: $0) }), namedBy[place] != number else {
                cursor.skip()
                continue
            }
            namedBy[place] = number
            let kind = cursor.kind()
            let start = cursor.place
            if !draft.set(&cursor, kind, at: place) {
                misfit = start
                return nil
            }
        }
        return draft
    }

    /// Whether there is no object with the primary key of a draft.
    private func isNew(_ draft: ObjectDraft) -> Bool {
        guard let primary = access.primary, let field = access.plan?.primary,
            let key = field.field.stored(draft.object._field(field.offset))
        else { return true }
        if access.plan?.isUnnumbered(key) ?? false { return true }
        if primary.column == Int(ColumnSlot.key), case .integer(let row) = key,
            ObjectMaker.isUnused(access, row, write)
        {
            return true
        }
        do throws(StorageError) { return try PrimaryKeyLookup(access).row(of: key) == nil } catch {
            write.fail(RealmError(error))
            return true
        }
    }
}

extension ObjectDraft {
    /// Sets a property to the value at the cursor, and moves past the value.
    /// - Returns: false if the value does not fit.
    fileprivate mutating func set(_ cursor: inout JSONCursor, _ kind: JSONCursor.Kind, at place: Int) -> Bool {
        let setter = setters[place]
        let field = object._field(setter.offset)
        switch kind {
        case .text:
            let text = cursor.text()
            switch setter.way {
            case .string: field.assumingMemoryBound(to: String?.self).pointee = text
            case .optionalString: field.assumingMemoryBound(to: String??.self).pointee = text
            default: return set(text, at: place)
            }
        case .number:
            let number = cursor.number()
            switch (setter.way, number) {
            case (.int, .integer(let value)): field.assumingMemoryBound(to: Int?.self).pointee = Int(value)
            case (.optionalInt, .integer(let value)): field.assumingMemoryBound(to: Int??.self).pointee = Int(value)
            case (.double, .integer(let value)): field.assumingMemoryBound(to: Double?.self).pointee = Double(value)
            case (.double, .real(let value)): field.assumingMemoryBound(to: Double?.self).pointee = value
            case (.optionalDouble, .integer(let value)):
                field.assumingMemoryBound(to: Double??.self).pointee = Double(value)
            case (.optionalDouble, .real(let value)): field.assumingMemoryBound(to: Double??.self).pointee = value
            default: return set(number.any, at: place)
            }
        case .bool:
            let isTrue = cursor.bool()
            guard setter.way == .bool else { return set(isTrue, at: place) }
            field.assumingMemoryBound(to: Bool?.self).pointee = isTrue
        case .null:
            cursor.null()
            switch setter.way {
            case .optionalInt: field.assumingMemoryBound(to: Int??.self).pointee = .some(nil)
            case .optionalDouble: field.assumingMemoryBound(to: Double??.self).pointee = .some(nil)
            case .optionalString: field.assumingMemoryBound(to: String??.self).pointee = .some(nil)
            default: return set(Any?.none as Any, at: place)
            }
        case .object, .list: return set(cursor.value(), at: place)
        }
        return true
    }
}
