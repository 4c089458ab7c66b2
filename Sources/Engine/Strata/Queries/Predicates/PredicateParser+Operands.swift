extension PredicateParser {
    mutating func operand() throws(RealmError) -> Predicate.Expression {
        let token = token
        switch token.kind {
        case .number:
            advance()
            if let integer = Int64(token.text) { return .value(.init(.integer(integer), .int)) }
            return .value(.init(.double(Double(token.text) ?? 0), .double))
        case .text(let text):
            advance()
            return .value(.init(.text(text), .string))
        case .name:
            advance()
            return try entries(of: try path(token.text, token.column))
        case .word: return try word()
        case .argument(let letter): return try argument(letter)
        case .symbol where token.text == "{": return try list()
        case .symbol, .end: throw error("a property or a value")
        }
    }

    private mutating func word() throws(RealmError) -> Predicate.Expression {
        let token = token
        switch token.text.uppercased() {
        case "TRUE", "YES":
            advance()
            return .value(.init(.integer(1), .bool))
        case "FALSE", "NO":
            advance()
            return .value(.init(.integer(0), .bool))
        case "NIL", "NULL":
            advance()
            return .value(.init(.null))
        case "SUBQUERY": return try subquery()
        default:
            // Words of the language in capitals; in other spellings they may be names of properties.
            let reserved = [
                "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "ANY", "SOME", "ALL",
                "NONE", "TRUEPREDICATE", "FALSEPREDICATE",
            ]
            guard !reserved.contains(token.text) else { throw error("a property or a value") }
            advance()
            return try entries(of: try path(token.text, token.column))
        }
    }

    /// Behind a path: `['key']`, `[0]`, `[*]` or `[%@]`, repeatedly, each with or without a path behind it.
    private mutating func entries(of operand: Predicate.Expression) throws(RealmError) -> Predicate.Expression {
        guard case .path(let path) = operand, token.isSymbol("[") else { return operand }
        advance()
        let part = try entry()
        guard take(symbol: "]") else { throw error("']'") }
        let names = path.names + [part.name]
        let behind = token
        guard behind.kind == .word, behind.text.hasPrefix("."), behind.text.uppercased() != ".@COUNT" else {
            return try entries(of: .path(Predicate.Path(names: names, variable: path.variable)))
        }
        advance()
        let rest = String(behind.text.dropFirst())
        return try entries(of: try self.path(rest, behind.column + 1, behind: names, path.variable))
    }

    /// Between brackets: the key of a map, or the part of a list or a map in a value of any type.
    private mutating func entry() throws(RealmError) -> Predicate.MapPart {
        let token = token
        switch token.kind {
        case .text(let text):
            advance()
            return .entry(text)
        case .number:
            guard let place = Int(token.text) else { break }
            advance()
            return .index(place)
        case .symbol where token.text == "*":
            advance()
            return .each
        case .argument("K"):
            guard _flatten(try argument()) as? String == "#any" else { break }
            advance()
            return .each
        case .argument("@"), .argument("d"), .argument("i"):
            guard case .value(let constant) = try argument("@") else { break }
            if case .text(let text) = constant.stored { return .entry(text) }
            if case .integer(let place) = constant.stored, constant.type != .bool { return .index(Int(place)) }
        default: break
        }
        throw error("the key of a map, such as 'name', or a place")
    }

    private mutating func list() throws(RealmError) -> Predicate.Expression {
        advance()
        var values: [Predicate.Expression] = []
        if take(symbol: "}") { return .values([]) }
        repeat {
            if token.isSymbol("{") { throw error("a value, not a list in a list") }
            values.append(try operand())
        } while take(symbol: ",")
        guard take(symbol: "}") else { throw error("',' or '}'") }
        return .values(values)
    }

    // MARK: Paths

    /// `dogs.age`, `SELF.age`, `$x.age`, `dogs.@count`, `dogs.@avg.age`, `dogs.age.@avg`.
    private func path(
        _ text: String, _ column: Int, behind first: [String] = [], _ variable: String? = nil
    ) throws(RealmError) -> Predicate.Expression {
        var names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if let empty = names.firstIndex(of: "") {
            let offset = names[..<empty].reduce(0) { $0 + $1.count + 1 }
            throw PredicateSyntax.error(
                in: format, at: column + min(offset, text.count), expected: "a name", found: "'.'")
        }
        var path = Predicate.Path(variable: variable)
        if !first.isEmpty {
            names = first + names
        } else if names[0].hasPrefix("$") {
            path.variable = names.removeFirst()
        } else if names[0].uppercased() == "SELF" {
            names.removeFirst()
        }
        var aggregate: Predicate.Aggregate?
        for (place, name) in names.enumerated()
        where name.hasPrefix("@") && name != "@links" && Predicate.MapPart(name) == nil {
            guard let known = Predicate.Aggregate(rawValue: String(name.dropFirst()).lowercased()) else {
                throw PredicateSyntax.error(
                    in: format, at: column,
                    expected: "one of @count, @min, @max, @sum, @avg, @allKeys and @links in a path",
                    found: "'\(name)'")
            }
            guard aggregate == nil, place > 0 || !path.names.isEmpty || path.variable != nil,
                place == names.count - 1 || known != .count
            else {
                throw PredicateSyntax.error(
                    in: format, at: column, expected: "one operator behind a collection", found: "'\(text)'")
            }
            aggregate = known
            path.names = names.filter { $0 != name }
        }
        guard let aggregate else {
            path.names = names
            return .path(path)
        }
        return .aggregate(path, aggregate)
    }

    /// Behind the word: `(dogs, $x, $x.age > 3).@count`.
    private mutating func subquery() throws(RealmError) -> Predicate.Expression {
        advance()
        guard take(symbol: "(") else { throw error("'(' behind SUBQUERY") }
        let start = token
        guard case .path(let path) = try operand() else {
            throw PredicateSyntax.error(
                in: format, at: start.column, expected: "a collection", found: "'\(start.text)'")
        }
        guard take(symbol: ",") else { throw error("','") }
        let variable = token
        guard variable.kind == .word, variable.text.hasPrefix("$"), !variable.text.contains("."),
            variable.text.count > 1
        else { throw error("a variable such as $x") }
        advance()
        guard take(symbol: ",") else { throw error("','") }
        let inner = try deeper { (parser) throws(RealmError) in try parser.condition() }
        guard take(symbol: ")") else { throw error("')', AND or OR") }
        guard token.kind == .word, [".@COUNT", "@COUNT"].contains(token.text.uppercased()) else {
            throw error("'.@count' behind SUBQUERY(...)")
        }
        advance()
        return .subquery(path, variable: variable.text, inner)
    }

    // MARK: Arguments

    private mutating func argument(_ letter: Character) throws(RealmError) -> Predicate.Expression {
        let token = token
        let argument = _flatten(try argument())
        let number = takenArguments
        func wrong(_ expected: String) -> RealmError {
            let given = argument.map { "a value of type \(type(of: $0))" } ?? "nil"
            return PredicateSyntax.error(
                in: format, at: token.column, expected: "\(expected) as argument \(number)", found: given)
        }
        advance()
        switch letter {
        case "K":
            guard let name = argument as? String, !name.isEmpty else { throw wrong("the name of a property") }
            return try path(name, token.column)
        case "d", "i", "u":
            guard let constant = Predicate.Constant(argument: argument), case .integer = constant.stored else {
                throw wrong("an integer")
            }
            return .value(constant)
        case "f", "g":
            guard let constant = Predicate.Constant(argument: argument), constant.stored.number != nil,
                constant.type != .date
            else { throw wrong("a number") }
            return .value(constant)
        case "s":
            guard let text = argument as? String else { throw wrong("text") }
            return .value(.init(.text(text), .string))
        default:
            guard let value = Self.value(argument) else {
                throw wrong("a value that a property can have, an object, or a list of them")
            }
            return value
        }
    }

    /// An argument as an operand; nil for a value that no property compares with.
    static func value(_ argument: Any?) -> Predicate.Expression? {
        guard let argument = _flatten(argument) else { return .value(.init(.null)) }
        if let object = argument as? ObjectBase { return .object(object) }
        if let custom = argument as? any FailableCustomPersistable { return custom._queryConstant.expression }
        if let shape = argument as? any RLMGeospatial { return .shape(shape._shape) }
        if let any = argument as? AnyRealmValue { return any._queryConstant.expression }
        if let constant = Predicate.Constant(argument: argument) { return .value(constant) }
        let elements =
            (argument as? any UntypedCollection)?.anyElements
            ?? (argument is any EndlessSequence ? nil : argument as? any Sequence).map { self.elements(of: $0) }
        guard let elements else { return nil }
        var values: [Predicate.Expression] = []
        for element in elements {
            guard let value = value(element) else { return nil }
            if case .values = value { return nil }
            values.append(value)
        }
        return .values(values)
    }

    private static func elements(of sequence: some Sequence) -> [Any] { sequence.map { $0 as Any } }
}

extension Predicate.Constant {
    /// A value whose own type determines its storage.
    init?(argument: Any?) {
        guard let argument = _flatten(argument) else {
            self.init(.null)
            return
        }
        guard !(argument is ObjectBase), let stored = _StoredValue(constant: argument) else { return nil }
        let type: PropertyType?
        if let scalar = argument as? any _Scalar {
            type = Swift.type(of: scalar)._scalarType
        } else {
            switch stored {
            case .integer: type = .int
            case .double: type = .double
            case .text: type = .string
            default: type = nil
            }
        }
        self.init(stored, type)
    }
}
