/// A keyed archive (`NSKeyedArchiver`) as data. No class is looked up, and no code of the archive runs.
package struct KeyedArchive: Sendable {
    private let list: PropertyList
    private let objects: [Int]
    private let topMembers: [String: Int]

    package init?(_ bytes: [UInt8]) {
        guard let list = PropertyList(bytes), let members = list.members(list.top),
            case .string("NSKeyedArchiver")? = members["$archiver"].map({ list[$0] }),
            let place = members["$objects"], case .array(let objects) = list[place],
            let top = members["$top"].flatMap({ list.members($0) })
        else { return nil }
        self.list = list
        self.objects = objects
        topMembers = top
    }

    /// An object of the archive, by its index in `$objects`; index 0 is null.
    package struct Object: Sendable {
        fileprivate let place: Int
    }

    package var root: Object? { (topMembers["root"] ?? topMembers.min { $0.key < $1.key }?.value).flatMap(object) }

    /// The object that a member refers to; nil for null and for a dangling reference.
    private func object(_ number: Int) -> Object? {
        guard case .place(let place) = list[number], place > 0, place < objects.count else { return nil }
        return Object(place: place)
    }

    package func members(_ object: Object) -> [String: Int]? { list.members(objects[object.place]) }

    /// The member of an object, if it is an object itself.
    package func object(_ owner: Object, _ name: String) -> Object? {
        members(owner)?[name].flatMap { self.object($0) }
    }

    /// A number stored inline in the object; a bool is 0 or 1.
    package func integer(_ owner: Object, _ name: String) -> Int64? {
        switch members(owner)?[name].map({ list[$0] }) {
        case .integer(let number)?: number
        case .bool(let flag)?: flag ? 1 : 0
        default: nil
        }
    }

    package func string(_ owner: Object, _ name: String) -> String? { object(owner, name).flatMap(string) }

    /// The object as text.
    package func string(_ object: Object) -> String? {
        if case .string(let text) = list[objects[object.place]] { return text }
        guard let members = members(object), let place = members["NS.string"] else { return nil }
        switch list[place] {
        case .string(let text): return text
        default: return self.object(place).flatMap(plainString)
        }
    }

    private func plainString(_ object: Object) -> String? {
        if case .string(let text) = list[objects[object.place]] { text } else { nil }
    }

    package func className(_ object: Object) -> String? {
        guard let kind = self.object(object, "$class"), let place = members(kind)?["$classname"],
            case .string(let name) = list[place]
        else { return nil }
        return name
    }

    /// The elements of an array or a set, or of a list under another member name.
    package func elements(_ object: Object, _ name: String = "NS.objects") -> [Object]? {
        guard let place = members(object)?[name], case .array(let numbers) = list[place] else { return nil }
        return numbers.compactMap { self.object($0) }
    }

    /// Keys and values of a dictionary.
    package func pairs(_ object: Object) -> [(key: Object, value: Object)]? {
        guard let keys = elements(object, "NS.keys"), let values = elements(object), keys.count == values.count else {
            return nil
        }
        return Array(zip(keys, values).map { ($0, $1) })
    }

    // MARK: Plain values

    /// A value of text, numbers, dates, data, arrays and dictionaries.
    package indirect enum Plain: Sendable, Equatable {
        case null
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        case date(Double)
        case data([UInt8])
        case string(String)
        case uuid([UInt8])
        case array([Plain])
        case dictionary([String: Plain])
    }

    /// The largest nesting of arrays and dictionaries.
    private static let deepest = 90
    /// The largest number of values: shared objects could otherwise expand beyond memory.
    private static let mostValues = 1_000_000

    /// The root as a plain value; nil if any part of it has another class, or is nested too deeply.
    package func plain() -> Plain? {
        var room = Self.mostValues
        guard let root else { return .null }
        return plain(root, 0, &room)
    }

    private func plain(_ object: Object, _ depth: Int, _ room: inout Int) -> Plain? {
        room -= 1
        guard depth < Self.deepest, room > 0 else { return nil }
        switch list[objects[object.place]] {
        case .string(let text): return .string(text)
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .bool(let flag): return .bool(flag)
        case .date(let seconds): return .date(seconds)
        case .data(let bytes): return .data(bytes)
        case .dictionary: return instance(object, depth, &room)
        default: return nil
        }
    }

    /// Bounds the cost of lists, since a list may be referenced repeatedly.
    private func take(_ object: Object, _ room: inout Int) -> Bool {
        if let place = members(object)?["NS.objects"], case .array(let numbers) = list[place] { room -= numbers.count }
        return room > 0
    }

    private func instance(_ object: Object, _ depth: Int, _ room: inout Int) -> Plain? {
        guard let members = members(object), let name = className(object) else { return nil }
        switch name {
        case "NSString", "NSMutableString": return string(object).map { .string($0) }
        case "NSDate":
            switch members["NS.time"].map({ list[$0] }) {
            case .real(let seconds)?: return .date(seconds)
            case .integer(let seconds)?: return .date(Double(seconds))
            default: return nil
            }
        case "NSData", "NSMutableData":
            if case .data(let bytes)? = members["NS.data"].map({ list[$0] }) { return .data(bytes) }
            return nil
        case "NSUUID":
            guard case .data(let bytes)? = members["NS.uuidbytes"].map({ list[$0] }), bytes.count == 16 else {
                return nil
            }
            return .uuid(bytes)
        case "NSNull": return .null
        case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
            return array(object, depth, &room)
        case "NSDictionary", "NSMutableDictionary": return dictionary(object, depth, &room)
        case "NSURL": return self.string(object, "NS.relative").map { .string($0) }
        default: return nil
        }
    }

    private func array(_ object: Object, _ depth: Int, _ room: inout Int) -> Plain? {
        guard let elements = elements(object), take(object, &room) else { return nil }
        var values: [Plain] = []
        for element in elements {
            guard let value = plain(element, depth + 1, &room) else { return nil }
            values.append(value)
        }
        return .array(values)
    }

    private func dictionary(_ object: Object, _ depth: Int, _ room: inout Int) -> Plain? {
        guard take(object, &room), let pairs = pairs(object) else { return nil }
        var values: [String: Plain] = [:]
        for (key, value) in pairs {
            guard let name = string(key), let value = plain(value, depth + 1, &room) else { return nil }
            values[name] = value
        }
        return .dictionary(values)
    }
}
