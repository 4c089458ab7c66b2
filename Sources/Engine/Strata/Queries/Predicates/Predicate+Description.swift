/// The format string of a predicate. Constants without a spelling in a format are shown in angle brackets.
extension Predicate: CustomStringConvertible {
    var description: String {
        switch self {
        case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .tooDeep: return "<nested deeper than \(Self.deepest) levels>"
        case .comparison(let comparison): return "\(comparison)"
        case .not(let inner): return "NOT (\(inner))"
        case .and(let parts): return Self.joined(parts, "AND", "TRUEPREDICATE")
        case .or(let parts): return Self.joined(parts, "OR", "FALSEPREDICATE")
        }
    }

    private static func joined(_ parts: PredicateParts, _ word: String, _ none: String) -> String {
        if parts.count == 0 { return none }
        return parts.map { part in
            switch part {
            case .and, .or: return "(\(part))"
            default: return "\(part)"
            }
        }.joined(separator: " \(word) ")
    }
}

extension Predicate.Comparison: CustomStringConvertible {
    var description: String {
        let prefix = quantifier == .any && !isQuantified ? "" : "\(quantifier.rawValue.uppercased()) "
        var letters = options.contains(.ignoringCase) ? "c" : ""
        if options.contains(.ignoringDiacritics) { letters += "d" }
        return "\(prefix)\(left) \(comparator.symbol)\(letters.isEmpty ? "" : "[\(letters)]") \(right)"
    }
}

extension Predicate.Path: CustomStringConvertible {
    var description: String {
        if names.isEmpty { return variable ?? "SELF" }
        var text = variable ?? ""
        for name in names {
            switch Predicate.MapPart(name) {
            case .entry(let key): text += "[\(Predicate.Constant.quoted(key))]"
            case .index(let place): text += "[\(place)]"
            case .each: text += "[*]"
            case .keys, .values, nil: text += (text.isEmpty ? "" : ".") + name
            }
        }
        return text
    }
}

extension Predicate.Expression: CustomStringConvertible {
    var description: String {
        switch self {
        case .path(let path): return "\(path)"
        case .aggregate(let path, let aggregate): return "\(path).@\(aggregate)"
        case .subquery(let path, let variable, let inner): return "SUBQUERY(\(path), \(variable), \(inner)).@count"
        case .value(let constant): return "\(constant)"
        case .object(let object):
            return object._frame == nil ? "<an unmanaged object>" : "<\(object._access.name) \(object._key)>"
        case .members(let members): return "<\(members.className)>"
        case .shape(let shape): return "\(shape)"
        case .values(let parts): return "{\(parts.map { "\($0)" }.joined(separator: ", "))}"
        }
    }
}

extension Predicate.Constant: CustomStringConvertible {
    var description: String {
        switch stored {
        case .null: return "nil"
        case .integer(let value): return type == .bool ? (value != 0 ? "TRUE" : "FALSE") : "\(value)"
        case .double(let value): return type == .date ? "<date \(value)>" : "\(value)"
        case .text(let text): return Self.quoted(text)
        case .bytes(let bytes): return "<\(bytes.count) bytes>"
        case .decimal(let value): return "<decimal \(value)>"
        case .link(let key): return "<object \(key)>"
        }
    }

    static func quoted(_ text: String) -> String {
        var quoted = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "'"
    }
}
