import JSONText

/// Trials of a case that have the same outcome, and the same detail without numbers and data. Four thousand bit flips
/// have a handful of causes.
package struct FailureCause: Hashable, Sendable {
    package var outcome: Outcome
    /// The detail without the parts that differ from trial to trial: see `text(of:)`.
    package var text: String
    package var count: Int
    /// The address of the first of these trials; `detail` is that trial's full detail.
    package var example: FaultAddress
    package var detail: String
    /// The text with the role of each file in place of its name: file names differ between engines, roles do not. nil
    /// if the text names no file.
    package var roleText: String?

    package init(outcome: Outcome, text: String, count: Int, example: FaultAddress, detail: String) {
        self.outcome = outcome
        self.text = text
        self.count = count
        self.example = example
        self.detail = detail
    }

    package init(_ trial: Trial, count: Int = 1) {
        self.init(
            outcome: trial.outcome, text: Self.text(of: trial), count: count, example: trial.address,
            detail: String(trial.detail.prefix(Self.longestDetail)))
    }

    /// The most causes that a case counts apart. It counts all further causes of an outcome together, as the outcome's
    /// remainder.
    package static let most = 40
    /// The text of the remainder.
    package static let remainder = "others"
    package static let longestDetail = 300
    private static let longestText = 160

    /// Trials with equal keys have the same cause.
    package struct Key: Hashable, Sendable {
        package var outcome: Outcome
        package var text: String
    }

    package var key: Key { Key(outcome: outcome, text: text) }

    /// Engines whose causes have equal shared keys have the same cause.
    package var sharedKey: Key { Key(outcome: outcome, text: roleText ?? text) }

    /// Sets `roleText`, if the detail names files.
    ///
    /// - Parameter roles: returns a text with the role of each file in place of its name.
    package mutating func name(roles: (String) -> String) {
        let named = roles(detail)
        roleText = named == detail ? nil : Self.text(of: Trial(address: example, outcome: outcome, detail: named))
    }

    /// The cause of a check includes the name of the check, which says what was checked. The address of a fault says
    /// only where it was, and is left out.
    package static func text(of trial: Trial) -> String {
        let detail = text(of: trial.detail)
        guard trial.address.fault == .check, !trial.address.isWholeCase else { return detail }
        let name = text(of: trial.address.text)
        return detail.isEmpty ? name : "\(name): \(detail)"
    }

    /// The detail with `#` for numbers, `".."` for quoted data, and only the last part of each path, and without
    /// expected and actual values.
    package static func text(of detail: String) -> String {
        var scanner = CauseScanner(detail)
        let text = scanner.scan()
        return text.count > longestText ? text.prefix(longestText - 1) + "\u{2026}" : text
    }
}

/// Removes from a line what differs from trial to trial. It works on bytes, since sweeps have hundreds of thousands of
/// lines.
private struct CauseScanner {
    private let bytes: [UInt8]
    private var place = 0
    private var output: [UInt8] = []

    init(_ text: String) {
        bytes = Array(text.prefix { !$0.isNewline }.utf8)
        output.reserveCapacity(bytes.count)
    }

    mutating func scan() -> String {
        while place < bytes.count {
            let byte = bytes[place]
            if startsValues() {
                append("expected .., got ..")
                break
            } else if byte == 0x22 {
                skipQuoted(byte)
            } else if byte == 0x2F, !isWord(before: place), isPath() {
                skipToLastPart()
            } else if isWordByte(byte) {
                takeWord()
            } else if byte == 0x2D, !isWord(before: place), place + 1 < bytes.count, isDigit(bytes[place + 1]) {
                place += 1
            } else {
                output.append(byte)
                place += 1
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private mutating func append(_ text: String) { output += Array(text.utf8) }

    /// Whether `expected X, got Y` begins here. Neither value belongs to the cause, and X may be any text.
    private func startsValues() -> Bool {
        guard !isWord(before: place), has("expected ", at: place) else { return false }
        return (place..<bytes.count).contains { has(", got ", at: $0) }
    }

    private func has(_ text: StaticString, at start: Int) -> Bool {
        guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
        return text.withUTF8Buffer { wanted in wanted.indices.allSatisfy { bytes[start + $0] == wanted[$0] } }
    }

    private mutating func skipQuoted(_ quote: UInt8) {
        place += 1
        while place < bytes.count, bytes[place] != quote {
            place += bytes[place] == 0x5C ? 2 : 1
        }
        place += 1
        append("\"..\"")
    }

    private func isPath() -> Bool {
        var slashes = 0
        var index = place
        while index < bytes.count, isPathByte(bytes[index]) {
            if bytes[index] == 0x2F { slashes += 1 }
            index += 1
        }
        return slashes > 1
    }

    private mutating func skipToLastPart() {
        var end = place
        var start = place
        while end < bytes.count, isPathByte(bytes[end]) {
            if bytes[end] == 0x2F { start = end + 1 }
            end += 1
        }
        place = min(start, end)
    }

    /// Keeps letters, and puts `#` for a sequence of digits, or for a word of hexadecimal digits that is too long for
    /// an ordinary word.
    private mutating func takeWord() {
        let start = place
        while place < bytes.count, isWordByte(bytes[place]) || isPointOfNumber(place) { place += 1 }
        let word = bytes[start..<place]
        let isHexadecimal =
            word.contains(where: isDigit)
            && (word.starts(with: [0x30, 0x78]) || word.count >= 8 && word.allSatisfy(isHexadecimalDigit))
        if isHexadecimal { return number() }
        var isNumber = false
        for byte in word {
            if isDigit(byte) || byte == 0x2E {
                if !isNumber { number() }
                isNumber = true
            } else {
                output.append(byte)
                isNumber = false
            }
        }
    }

    /// Puts `#` for a number. Several numbers separated by commas become a single one.
    private mutating func number() {
        let row: [UInt8] = [0x23, 0x2C, 0x20]
        if output.suffix(3).elementsEqual(row) {
            output.removeLast(3)
        }
        output.append(0x23)
    }

    /// The decimal point of `1.5`.
    private func isPointOfNumber(_ index: Int) -> Bool {
        bytes[index] == 0x2E && index > 0 && isDigit(bytes[index - 1]) && index + 1 < bytes.count
            && isDigit(bytes[index + 1])
    }

    private func isWord(before index: Int) -> Bool { index > 0 && isWordByte(bytes[index - 1]) }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private func isHexadecimalDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x66).contains(byte) || (0x41...0x46).contains(byte)
    }

    private func isWordByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || byte == 0x5F || byte >= 0x80
    }

    private func isPathByte(_ byte: UInt8) -> Bool {
        isWordByte(byte) || byte == 0x2F || byte == 0x2E || byte == 0x2D
    }
}

// Collects trials by cause. The first trial of a cause is its example.
extension [FailureCause] {
    package mutating func add(_ trial: Trial) {
        add(FailureCause(trial))
    }

    package mutating func add(_ cause: FailureCause) {
        var cause = cause
        var place = firstIndex { $0.key == cause.key }
        if place == nil, count >= FailureCause.most {
            (cause.text, cause.roleText) = (FailureCause.remainder, nil)
            place = firstIndex { $0.key == cause.key }
        }
        if let place { self[place].count += cause.count } else { append(cause) }
    }

    /// The gravest first; among equal outcomes the most frequent first.
    package var gravestFirst: [FailureCause] {
        sorted {
            ($0.outcome.gravity, $0.count, $1.text) > ($1.outcome.gravity, $1.count, $0.text)
        }
    }
}

extension FailureCause: JSONRecord {
    package static let blank = FailureCause(Trial.blank)
    package static let fields: [JSONField<FailureCause>] = [
        .member("outcome", \.outcome), .member("text", \.text), .member("count", \.count, in: .counts),
        .member("example", \.example), .member("detail", \.detail), .member("role_text", \.roleText),
    ]
}

extension CaseResult {
    /// The causes of the failures. If the result has none (it was left out, or it is older than causes), they are those
    /// of its trials, or else its outcome with its message.
    package var failureCauses: [FailureCause] {
        if !self.causes.isEmpty { return self.causes }
        var found: [FailureCause] = []
        for trial in self.trials where !trial.outcome.isHonest { found.add(trial) }
        if found.isEmpty, let outcome, outcome != .correct || verdict == .harnessError {
            found.add(Trial(address: FaultAddress(text: "case"), outcome: outcome, detail: message))
        }
        return found.gravestFirst
    }
}
