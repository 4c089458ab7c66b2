/// Parses the format strings of `filter`.
///
///     condition  := all ("OR" all)*           all := not ("AND" not)*           not := ("NOT" | "!")* primary
///     primary    := "(" condition ")" | "TRUEPREDICATE" | "FALSEPREDICATE" | comparison
///     comparison := ["ANY" | "SOME" | "ALL" | "NONE"] operand ["NOT"] operator ["[c]" | "[d]" | "[cd]"] operand
///     operator   := "==" "=" "!=" "<>" "<" "<=" "=<" ">" ">=" "=>" "IN" "BETWEEN" "CONTAINS" "BEGINSWITH" "ENDSWITH"
///                   "LIKE"
///     operand    := path | value | "%@" | "%K" | "%d" ... | "{" operand, ... "}"
///                 | "SUBQUERY" "(" path "," $variable "," condition ")" ".@count"
///     path       := ["SELF" | $variable] name ("." name)*, with @count, @min, @max, @sum, @avg behind or in front of
///                   the last name, and @links.Class.property for what leads here; behind a map @allKeys, or a key
///                   in brackets, as in scores['math']
///     value      := number | 'text' | "text" | TRUE | FALSE | YES | NO | NIL | NULL
///
/// Words are case-insensitive; `&&`, `||` are AND, OR. A property with the name of a word is written `#name`.
struct PredicateParser {
    /// Deeper formats are refused: parsing one takes stack for each level.
    static let maximumDepth = 64

    let format: [Character]
    private let tokens: [PredicateToken]
    private var place = 0
    private var depth = 0
    private let arguments: [Any?]
    private var nextArgument = 0

    /// - Throws: `invalidInput`, with the position in the format and what was expected there.
    static func parse(_ format: String, _ arguments: [Any?]) throws(RealmError) -> Predicate {
        var parser = try PredicateParser(format, arguments)
        let predicate = try parser.condition()
        guard parser.token.kind == .end else { throw parser.error("AND, OR or the end") }
        guard parser.nextArgument == arguments.count else {
            throw RealmError(
                .invalidInput,
                "the filter \"\(format)\" takes \(parser.nextArgument) arguments, but \(arguments.count) were given")
        }
        return predicate
    }

    private init(_ format: String, _ arguments: [Any?]) throws(RealmError) {
        // Scalar by scalar: an accent behind a quotation mark belongs to the text, and must not combine with the mark.
        self.format = format.unicodeScalars.map { Character($0) }
        self.arguments = arguments
        var lexer = PredicateLexer(self.format)
        tokens = try lexer.tokens()
    }

    // MARK: Tokens

    /// The next token; the end token stays current.
    var token: PredicateToken { tokens[place] }

    mutating func advance() { if place + 1 < tokens.count { place += 1 } }

    mutating func take(_ words: String...) -> Bool {
        guard token.kind == .word, words.contains(token.text.uppercased()) else { return false }
        advance()
        return true
    }

    mutating func take(symbol: String) -> Bool {
        guard token.isSymbol(symbol) else { return false }
        advance()
        return true
    }

    func error(_ expected: String) -> RealmError {
        let found = token.kind == .end ? "the end" : "'\(token.text)'"
        return PredicateSyntax.error(in: format, at: token.column, expected: expected, found: found)
    }

    /// The argument for a placeholder of the format.
    mutating func argument() throws(RealmError) -> Any? {
        guard nextArgument < arguments.count else {
            throw error("no more than \(arguments.count) arguments")
        }
        defer { nextArgument += 1 }
        return arguments[nextArgument]
    }

    /// The number of arguments used.
    var takenArguments: Int { nextArgument }

    /// Runs `body` one level deeper.
    mutating func deeper<Value>(
        _ body: (inout PredicateParser) throws(RealmError) -> Value
    ) throws(RealmError) -> Value {
        guard depth < Self.maximumDepth else { throw error("at most \(Self.maximumDepth) nested levels") }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    // MARK: Logic

    mutating func condition() throws(RealmError) -> Predicate {
        var parts = [try conjunction()]
        while take("OR") || take(symbol: "||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(PredicateParts(parts))
    }

    private mutating func conjunction() throws(RealmError) -> Predicate {
        var parts = [try negation()]
        while take("AND") || take(symbol: "&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(PredicateParts(parts))
    }

    private mutating func negation() throws(RealmError) -> Predicate {
        var isNegated = false
        while take("NOT") || take(symbol: "!") { isNegated.toggle() }
        let inner = try primary()
        return isNegated ? .not(inner) : inner
    }

    private mutating func primary() throws(RealmError) -> Predicate {
        if take(symbol: "(") {
            let inner = try deeper { (parser) throws(RealmError) in try parser.condition() }
            guard take(symbol: ")") else { throw error("')', AND or OR") }
            return inner
        }
        if take("TRUEPREDICATE") { return .constant(true) }
        if take("FALSEPREDICATE") { return .constant(false) }
        return try comparison()
    }

    // MARK: Comparisons

    private mutating func comparison() throws(RealmError) -> Predicate {
        let quantifier = quantifier()
        let start = token
        let left = try operand()
        let isNegated = take("NOT")
        guard let comparator = comparator() else {
            throw error("an operator such as ==, IN or CONTAINS")
        }
        let options = try textOptions()
        let second = token
        let right = try operand()
        if left.isConstant && right.isConstant {
            throw PredicateSyntax.error(
                in: format, at: start.column, expected: "a property on one side", found: "values on both")
        }
        var made = Predicate.Comparison(left: left, comparator: comparator, right: right)
        made.quantifier = quantifier ?? .any
        made.isQuantified = quantifier != nil
        made.options = options
        try check(made, second)
        made.putValueRight()
        return isNegated ? .not(.comparison(made)) : .comparison(made)
    }

    /// Checks the operands of IN and BETWEEN.
    private func check(_ comparison: Predicate.Comparison, _ second: PredicateToken) throws(RealmError) {
        switch (comparison.comparator, comparison.right) {
        case (.isIn, .value), (.isIn, .object):
            throw PredicateSyntax.error(
                in: format, at: second.column, expected: "a list behind IN", found: "a single value")
        case (.between, .values(let bounds)) where bounds.count == 2: break
        case (.between, _):
            throw PredicateSyntax.error(
                in: format, at: second.column, expected: "two values behind BETWEEN, such as {1, 5}",
                found: "'\(second.text)'")
        default: break
        }
    }

    /// Takes `ANY`, `SOME`, `ALL` or `NONE` if an operand follows. Else the word is the name of a property, and stays.
    private mutating func quantifier() -> Predicate.Quantifier? {
        guard token.isWord("ANY", "SOME", "ALL", "NONE"), place + 1 < tokens.count else { return nil }
        switch tokens[place + 1].kind {
        case .symbol where !tokens[place + 1].isSymbol("{"): return nil
        case .end: return nil
        case .word:
            let next = tokens[place + 1]
            let isOperator = next.isWord("IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "NOT")
            if isOperator { return nil }
        default: break
        }
        defer { advance() }
        return Predicate.Quantifier(rawValue: token.text.lowercased()) ?? .any
    }

    private mutating func comparator() -> Predicate.Comparator? {
        let known: [String: Predicate.Comparator]
        switch token.kind {
        case .symbol:
            known = [
                "==": .equal, "=": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
                "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
            ]
        case .word:
            known = [
                "CONTAINS": .contains, "BEGINSWITH": .beginsWith, "ENDSWITH": .endsWith, "LIKE": .like, "IN": .isIn,
                "BETWEEN": .between,
            ]
        default: return nil
        }
        guard let found = known[token.text.uppercased()] else { return nil }
        advance()
        return found
    }

    /// `[c]`, `[d]` or `[cd]`.
    private mutating func textOptions() throws(RealmError) -> TextOptions {
        guard take(symbol: "[") else { return [] }
        let letters = token.text.lowercased()
        guard token.kind == .word, ["c", "d", "cd", "dc"].contains(letters) else { throw error("c, d or cd") }
        advance()
        guard take(symbol: "]") else { throw error("']'") }
        var options = TextOptions()
        if letters.contains("c") { options.insert(.ignoringCase) }
        if letters.contains("d") { options.insert(.ignoringDiacritics) }
        return options
    }
}

extension Predicate.Comparison {
    /// Moves the property to the left and the value to the right: `3 < age` is `age > 3`, `%@ IN dogs` is `ANY dogs
    /// ==`.
    mutating func putValueRight() {
        guard left.isConstant, !right.isConstant, quantifier != .all else { return }
        if comparator == .isIn {
            guard case .path = right else { return }
            if case .values = left { return }
            comparator = .equal
        } else {
            guard let mirrored = comparator.mirrored else { return }
            comparator = mirrored
        }
        swap(&left, &right)
    }
}
