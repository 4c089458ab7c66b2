/// A token of a format string, with its position.
struct PredicateToken: Equatable {
    enum Kind: Equatable {
        /// A property path, a variable or a word of the language.
        case word
        /// A name written as `#name`, which is never a word of the language.
        case name
        case number
        /// The text between quotes, unescaped.
        case text(String)
        /// `%@`, `%K`, `%d` and others: the last letter.
        case argument(Character)
        case symbol
        case end
    }

    var kind: Kind
    /// As written.
    var text: String
    /// In characters from the start of the format.
    var column: Int

    func isWord(_ words: String...) -> Bool { kind == .word && words.contains(text.uppercased()) }
    func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
}

/// Splits a format string into tokens.
struct PredicateLexer {
    private let format: [Character]
    private var place = 0

    init(_ format: [Character]) { self.format = format }

    /// All tokens; the last one is the end.
    /// - Throws: `invalidInput` at the first character that starts no token.
    mutating func tokens() throws(RealmError) -> [PredicateToken] {
        var tokens: [PredicateToken] = []
        while place < format.count {
            if format[place].isWhitespace { place += 1 } else { tokens.append(try token()) }
        }
        tokens.append(PredicateToken(kind: .end, text: "the end", column: format.count))
        return tokens
    }

    private func peek(_ distance: Int = 0) -> Character? {
        place + distance < format.count ? format[place + distance] : nil
    }

    private mutating func token() throws(RealmError) -> PredicateToken {
        let start = place
        let character = format[place]
        if character == "%" { return try argument() }
        if character == "'" || character == "\"" { return try quoted() }
        if isDigit(character) || "+-".contains(character) && peek(1).map(isDigit) == true { return try number() }
        if character == "#", peek(1).map(isNameStart) == true {
            place += 1
            takeWhile(isName)
            return made(.name, start, String(format[(start + 1)..<place]))
        }
        let goesOn = character == "." && start > 0 && format[start - 1] == "]" && peek(1).map(isNameStart) == true
        if isNameStart(character) || goesOn || character == "." && peek(1) == "@" {
            place += 1
            takeWhile(isName)
            return made(.word, start, String(format[start..<place]))
        }
        let two = String(format[place..<min(place + 2, format.count)])
        if ["==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||"].contains(two) {
            place += 2
            return made(.symbol, start, two)
        }
        guard "=<>!(){}[],*".contains(character) else {
            throw PredicateSyntax.error(
                in: format, at: place, expected: "a property, a value or an operator", found: "'\(character)'")
        }
        place += 1
        return made(.symbol, start, String(character))
    }

    private func made(_ kind: PredicateToken.Kind, _ start: Int, _ text: String) -> PredicateToken {
        PredicateToken(kind: kind, text: text, column: start)
    }

    private mutating func takeWhile(_ isWanted: (Character) -> Bool) {
        while let character = peek(), isWanted(character) { place += 1 }
    }

    private func isDigit(_ character: Character) -> Bool { character.isASCII && character.isWholeNumber }
    private func isNameStart(_ character: Character) -> Bool { character.isLetter || "_@$".contains(character) }
    private func isName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "_.@$".contains(character) || isMark(character)
    }

    /// Accents and vowel signs behind a letter.
    private func isMark(_ character: Character) -> Bool {
        switch character.unicodeScalars.first?.properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }

    /// `%@`, `%K`, and the numbers of C: `%d`, `%ld`, `%llu`, `%f` and so on.
    private mutating func argument() throws(RealmError) -> PredicateToken {
        let start = place
        place += 1
        while peek() == "l" || peek() == "h" || peek() == "z" { place += 1 }
        guard let letter = peek(), "@Kdiufgs".contains(letter), place == start + 1 || "diufg".contains(letter) else {
            throw PredicateSyntax.error(
                in: format, at: start, expected: "one of %@, %K, %d, %i, %u, %ld, %f and %s",
                found: "'\(String(format[start..<min(place + 1, format.count)]))'")
        }
        place += 1
        return made(.argument(letter), start, String(format[start..<place]))
    }

    private mutating func number() throws(RealmError) -> PredicateToken {
        let start = place
        place += 1
        while let character = peek() {
            let isSign = "+-".contains(character) && "eE".contains(format[place - 1])
            guard isDigit(character) || ".eE".contains(character) || isSign else { break }
            place += 1
        }
        let text = String(format[start..<place])
        guard Double(text) != nil, peek().map(isName) != true else {
            throw PredicateSyntax.error(
                in: format, at: start, expected: "a number", found: "'\(text)\(peek().map(String.init) ?? "")'")
        }
        return made(.number, start, text)
    }

    private mutating func quoted() throws(RealmError) -> PredicateToken {
        let start = place
        let quote = format[place]
        var text = ""
        place += 1
        while let character = peek(), character != quote {
            place += 1
            if character != "\\" { text.append(character) } else { text.append(try escaped(start)) }
        }
        guard peek() != nil else {
            throw PredicateSyntax.error(in: format, at: start, expected: "a closing \(quote)", found: "the end")
        }
        place += 1
        return made(.text(text), start, String(format[start..<place]))
    }

    private mutating func escaped(_ start: Int) throws(RealmError) -> Character {
        guard let letter = peek() else {
            throw PredicateSyntax.error(in: format, at: start, expected: "a closing \(format[start])", found: "the end")
        }
        place += 1
        switch letter {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u":
            let digits = String(format[place..<min(place + 4, format.count)])
            guard digits.count == 4, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
                throw PredicateSyntax.error(
                    in: format, at: place, expected: "four hexadecimal digits of a character", found: "'\(digits)'")
            }
            place += 4
            return Character(scalar)
        default: return letter
        }
    }
}

/// Messages about an invalid format.
enum PredicateSyntax {
    /// Characters shown around the position.
    private static let reach = 100

    static func error(in format: [Character], at column: Int, expected: String, found: String) -> RealmError {
        let start = max(0, column - reach)
        let end = min(format.count, column + reach)
        let shown = format[start..<end].map { $0.isNewline ? " " : $0 }
        let before = (start > 0 ? "..." : "")
        let line = before + String(shown) + (end < format.count ? "..." : "")
        let caret = String(repeating: " ", count: before.count + column - start) + "^"
        return RealmError(
            .invalidInput,
            "cannot read the filter: expected \(expected) at column \(column + 1), found \(found)\n"
                + "  \(line)\n  \(caret)")
    }
}
