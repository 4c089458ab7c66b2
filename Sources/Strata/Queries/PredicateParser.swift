/// Reads the format strings that `filter` takes.
///
///     condition := and ("OR" and)*        and := not ("AND" not)*        not := ("NOT" | "!") not | primary
///     primary   := "(" condition ")" | "TRUEPREDICATE" | "FALSEPREDICATE" | comparison
///     comparison := ["ANY" | "ALL" | "NONE"] operand operator ["[c]"] operand
///     operand   := path | "%@" | "%K" | number | 'text' | "text" | TRUE | FALSE | NIL | "{" operand, ... "}"
struct PredicateParser {
    private var tokens: [PredicateToken]
    private var place = 0
    private var arguments: [Any?]

    /// - Throws: `invalidInput`, with the format and what was expected.
    static func parse(_ format: String, _ arguments: [Any?]) throws(Realm.Error) -> Predicate {
        var parser = PredicateParser(tokens: try PredicateToken.read(format), arguments: arguments)
        let predicate = try parser.condition(format)
        guard parser.place == parser.tokens.count else { throw parser.error(format, "the end") }
        guard parser.arguments.isEmpty else { throw parser.error(format, "a %@ for every argument") }
        return predicate
    }

    private init(tokens: [PredicateToken], arguments: [Any?]) {
        self.tokens = tokens
        self.arguments = arguments.reversed()
    }

    private func error(_ format: String, _ expected: String) -> Realm.Error {
        let found = place < tokens.count ? "'\(tokens[place].text)'" : "the end"
        return Realm.Error(.invalidInput, "cannot read the filter \"\(format)\": expected \(expected), found \(found)")
    }

    private mutating func take(_ words: String...) -> Bool {
        guard place < tokens.count, case .word(let word) = tokens[place], words.contains(word.uppercased()) else {
            return false
        }
        place += 1
        return true
    }

    private mutating func take(symbol: String) -> Bool {
        guard place < tokens.count, case .symbol(let text) = tokens[place], text == symbol else { return false }
        place += 1
        return true
    }

    private mutating func condition(_ format: String) throws(Realm.Error) -> Predicate {
        var left = try conjunction(format)
        while take("OR") || take(symbol: "||") { left = .or(left, try conjunction(format)) }
        return left
    }

    private mutating func conjunction(_ format: String) throws(Realm.Error) -> Predicate {
        var left = try negation(format)
        while take("AND") || take(symbol: "&&") { left = .and(left, try negation(format)) }
        return left
    }

    private mutating func negation(_ format: String) throws(Realm.Error) -> Predicate {
        if take("NOT") || take(symbol: "!") { return .not(try negation(format)) }
        if take(symbol: "(") {
            let inner = try condition(format)
            guard take(symbol: ")") else { throw error(format, "')'") }
            return inner
        }
        if take("TRUEPREDICATE") { return .constant(true) }
        if take("FALSEPREDICATE") { return .constant(false) }
        return try comparison(format)
    }

    private mutating func comparison(_ format: String) throws(Realm.Error) -> Predicate {
        var quantifier = Predicate.Quantifier.any
        if take("ALL") {
            quantifier = .all
        } else if take("NONE") {
            quantifier = .none
        } else {
            _ = take("ANY", "SOME")
        }
        var left = try operand(format)
        guard var comparator = comparator() else { throw error(format, "an operator such as == or CONTAINS") }
        var ignoresCase = false
        if take(symbol: "[") {
            guard take("C") || take("CD") else { throw error(format, "[c]") }
            ignoresCase = true
            guard take(symbol: "]") else { throw error(format, "']'") }
        }
        var right = try operand(format)
        if case .path = left {
        } else {
            // The value stands on the left: 3 < age, or %@ IN dogs.
            swap(&left, &right)
            comparator = comparator == .isIn ? .equal : comparator.mirrored
        }
        guard case .path(var path) = left else { throw error(format, "a property on one side") }
        var made = Predicate.Comparison(path: path, comparator: comparator, value: right)
        if let last = path.last, last.hasPrefix("@"),
            let aggregate = Predicate.Aggregate(rawValue: String(last.dropFirst()))
        {
            path.removeLast()
            made.path = path
            made.aggregate = aggregate
        }
        made.quantifier = quantifier
        made.ignoresCase = ignoresCase
        return .comparison(made)
    }

    private mutating func comparator() -> Predicate.Comparator? {
        let symbols: [(String, Predicate.Comparator)] = [
            ("==", .equal), ("=", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<=", .lessOrEqual),
            ("=<", .lessOrEqual),
            (">=", .greaterOrEqual), ("=>", .greaterOrEqual), ("<", .less), (">", .greater),
        ]
        for (symbol, comparator) in symbols where take(symbol: symbol) { return comparator }
        let words: [(String, Predicate.Comparator)] = [
            ("CONTAINS", .contains), ("BEGINSWITH", .beginsWith), ("ENDSWITH", .endsWith), ("LIKE", .like),
            ("IN", .isIn),
            ("BETWEEN", .between),
        ]
        for (word, comparator) in words where take(word) { return comparator }
        return nil
    }

    private mutating func operand(_ format: String) throws(Realm.Error) -> Predicate.Operand {
        guard place < tokens.count else { throw error(format, "a property or a value") }
        let token = tokens[place]
        place += 1
        switch token {
        case .number(let text):
            if let integer = Int64(text) { return .value(.integer(integer)) }
            guard let double = Double(text) else { throw error(format, "a number") }
            return .value(.double(double))
        case .text(let text): return .value(.text(text))
        case .word(let word):
            switch word.uppercased() {
            case "TRUE", "YES": return .value(.integer(1))
            case "FALSE", "NO": return .value(.integer(0))
            case "NIL", "NULL": return .value(.null)
            default: return .path(word.split(separator: ".").map(String.init))
            }
        case .argument:
            guard let argument = arguments.popLast() else { throw error(format, "an argument for %@") }
            return try value(argument, format)
        case .nameArgument:
            guard let name = arguments.popLast() as? String else { throw error(format, "a name for %K") }
            return .path(name.split(separator: ".").map(String.init))
        case .symbol("{"):
            var values: [Predicate.Operand] = []
            while !take(symbol: "}") {
                values.append(try operand(format))
                _ = take(symbol: ",")
            }
            return .values(values)
        case .symbol:
            place -= 1
            throw error(format, "a property or a value")
        }
    }

    private func value(_ argument: Any?, _ format: String) throws(Realm.Error) -> Predicate.Operand {
        guard let argument = _flatten(argument) else { return .value(.null) }
        if let object = argument as? ObjectBase { return .object(object) }
        if let stored = _StoredValue(constant: argument) { return .value(stored) }
        let elements =
            (argument as? any UntypedCollection)?.anyElements ?? (argument as? [Any])
            ?? (argument as? any Sequence).map { sequence in sequence.map { $0 as Any } }
        guard let elements else { throw error(format, "an argument of a type that can be stored") }
        var values: [Predicate.Operand] = []
        for element in elements { values.append(try value(element, format)) }
        return .values(values)
    }
}

extension Predicate.Comparator {
    /// The same with the sides exchanged.
    fileprivate var mirrored: Self {
        switch self {
        case .less: return .greater
        case .lessOrEqual: return .greaterOrEqual
        case .greater: return .less
        case .greaterOrEqual: return .lessOrEqual
        default: return self
        }
    }
}

/// A piece of a format string.
enum PredicateToken: Equatable {
    case word(String)
    case number(String)
    case text(String)
    case argument
    case nameArgument
    case symbol(String)

    var text: String {
        switch self {
        case .word(let text), .number(let text), .text(let text), .symbol(let text): return text
        case .argument: return "%@"
        case .nameArgument: return "%K"
        }
    }

    static func read(_ format: String) throws(Realm.Error) -> [PredicateToken] {
        let characters = Array(format)
        var tokens: [PredicateToken] = []
        var place = 0
        while place < characters.count {
            let character = characters[place]
            if character.isWhitespace {
                place += 1
            } else if character == "%" {
                let kind = place + 1 < characters.count ? characters[place + 1] : " "
                guard kind == "@" || kind == "K" || kind == "d" || kind == "f" else {
                    throw Realm.Error(.invalidInput, "cannot read the filter \"\(format)\": %\(kind) is not known")
                }
                tokens.append(kind == "K" ? .nameArgument : .argument)
                place += 2
            } else if character == "'" || character == "\"" {
                tokens.append(try quoted(characters, &place, format))
            } else if character.isNumber
                || (character == "-" && place + 1 < characters.count && characters[place + 1].isNumber)
            {
                let start = place
                place += 1
                while place < characters.count, characters[place].isNumber || ".eE".contains(characters[place]) {
                    place += 1
                }
                tokens.append(.number(String(characters[start..<place])))
            } else if character.isLetter || character == "_" || character == "@" {
                let start = place
                while place < characters.count, isName(characters[place]) { place += 1 }
                tokens.append(.word(String(characters[start..<place])))
            } else {
                tokens.append(symbol(characters, &place))
            }
        }
        return tokens
    }

    private static func isName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "." || character == "@"
    }

    private static func quoted(
        _ characters: [Character], _ place: inout Int, _ format: String
    ) throws(Realm.Error) -> PredicateToken {
        let quote = characters[place]
        var text = ""
        place += 1
        while place < characters.count, characters[place] != quote {
            if characters[place] == "\\", place + 1 < characters.count { place += 1 }
            text.append(characters[place])
            place += 1
        }
        guard place < characters.count else {
            throw Realm.Error(.invalidInput, "cannot read the filter \"\(format)\": a quote is not closed")
        }
        place += 1
        return .text(text)
    }

    private static func symbol(_ characters: [Character], _ place: inout Int) -> PredicateToken {
        let two = String(characters[place..<min(place + 2, characters.count)])
        if ["==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||"].contains(two) {
            place += 2
            return .symbol(two)
        }
        place += 1
        return .symbol(String(characters[place - 1]))
    }
}
