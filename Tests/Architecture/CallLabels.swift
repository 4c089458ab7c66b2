/// Limits the unlabelled parameters of a function: a call with many values in a row does not show which is which.
enum CallLabels {
    /// The largest number of unlabelled parameters. New code has at most two; further options go into a struct.
    static let most = 3

    /// How many functions exceed the limit, by room. A number may fall and never rise; a room that is not listed has
    /// none. These functions are on hot paths: their parameters change only together with the loops that call them.
    static let standing = ["Sources/Strata": 79, "Sources/StrataStorage": 124]

    /// A function with too many unlabelled parameters.
    struct Function: Hashable {
        let path: String
        let line: Int
        let name: String
        let unlabelled: Int

        var room: String { path.split(separator: "/").prefix(2).joined(separator: "/") }
    }

    static func isChecked(_ path: String) -> Bool { path.hasPrefix("Sources/") || path.hasPrefix("Benchmarks/") }

    /// The functions of a file that exceed the limit.
    static func functions(in path: String, _ source: SwiftSource) -> [Function] {
        let lines = source.codeLines
        return lines.indices.compactMap { index in
            let line = lines[index]
            guard line.has("func") || line.has("init") || line.has("subscript"),
                let match = line.firstMatch(of: declaration)
            else { return nil }
            let head = [line[match.range.upperBound...]] + lines[(index + 1)...].prefix(40)
            let count = unlabelled(head.joined(separator: " "))
            guard count > most else { return nil }
            let name = match.output.1 ?? match.output.2 ?? ""
            return Function(path: path, line: index + 1, name: String(name), unlabelled: count)
        }
    }

    static func violations(of functions: [Function]) -> [Violation] {
        var violations: [Violation] = []
        for (room, found) in Dictionary(grouping: functions, by: \.room) {
            let allowed = standing[room] ?? 0
            guard found.count > allowed else { continue }
            for function in found where allowed == 0 {
                let rule = "\(function.name): \(function.unlabelled) parameters without a label, more than \(most)"
                violations.append(Violation(path: function.path, line: function.line, rule: rule))
            }
            if allowed > 0 {
                let rule = "\(found.count) functions with more than \(most) parameters without a label, not \(allowed)"
                violations.append(Violation(path: room, rule: rule))
            }
        }
        return violations
    }

    nonisolated(unsafe) private static let declaration =  // Guard: a Regex is immutable.
        /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:[a-z_]+(?:\([a-z]+\))?\s+)*(?:func\s+([^\s(<]+)|(init|subscript)[?!]?(?=\s*[<(]))/

    /// The unlabelled parameters of the first parameter list in a text that follows a function's name.
    private static func unlabelled(_ text: String) -> Int {
        var parentheses = 0
        var angles = 0
        var count = 0
        var isStart = false
        var before: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "<"): angles += 1
            case UInt8(ascii: ">") where before != UInt8(ascii: "-"): angles -= 1
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
                if parentheses == 0, byte == UInt8(ascii: "{") { return count }
                parentheses += 1
                if parentheses == 1 {
                    angles = 0
                    isStart = true
                }
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                parentheses -= 1
                if parentheses <= 0 { return count }
            case UInt8(ascii: ",") where parentheses == 1 && angles == 0: isStart = true
            case UInt8(ascii: " "):
                if isStart, before == UInt8(ascii: "_") {
                    count += 1
                    isStart = false
                }
            case UInt8(ascii: "_"): break
            default: isStart = false
            }
            before = byte
        }
        return count
    }
}
