/// Limits the unlabelled parameters of a function: a call with many values in a row does not show which is which.
enum CallLabels {
    /// The largest number of unlabelled parameters that a function may have.
    static let most = 3

    /// How many functions have ``most`` unlabelled parameters, by room. New code has at most two, and puts further
    /// options into a struct: a number may fall and never rise, and a room that is not listed has none.
    static let standing = [
        "Benchmarks/Controls": 3,
        "Benchmarks/Datasets": 2,
        "Benchmarks/DuckDBEngine": 5,
        "Benchmarks/LMDBEngine": 3,
        "Benchmarks/LibraryEngine": 13,
        "Benchmarks/MigrationScenarios": 10,
        "Benchmarks/ModelEngine": 4,
        "Benchmarks/ObjectScenarios": 56,
        "Benchmarks/PackedRows": 4,
        "Benchmarks/RocksDBEngine": 3,
        "Benchmarks/SQLiteEngine": 6,
        "Benchmarks/Scenarios": 53,
        "Benchmarks/StrataEngine": 13,
        "Benchmarks/Zoo": 1,
        "Sources/Engine/CoreDataFiles": 26,
        "Sources/Engine/StoreMigration": 13,
        "Sources/Engine/Strata": 228,
        "Sources/Engine/StrataCrypto": 2,
        "Sources/Engine/StrataRepair": 21,
        "Sources/Engine/StrataStorage": 179,
        "Sources/Engine/StrataTool": 2,
        "Sources/Ground/Commands": 2,
        "Sources/Harness/AssayTool": 20,
        "Sources/Harness/CaseFiles": 3,
        "Sources/Harness/FaultModel": 3,
        "Sources/Harness/Harness": 11,
        "Sources/Harness/History": 13,
        "Sources/Harness/ProgramTrials": 10,
        "Sources/Harness/Reporting": 40,
        "Sources/Harness/RunHistory": 1,
        "Sources/Harness/RunRecords": 12,
        "Sources/Harness/SimulatedDisk": 1,
        "Sources/Harness/Statistics": 2,
    ]

    /// A function with at least ``most`` unlabelled parameters.
    struct Function: Hashable {
        let path: String
        let line: Int
        let name: String
        let unlabelled: Int

        var room: String { Checkout.room(of: path) }
    }

    static func isChecked(_ path: String) -> Bool { path.hasPrefix("Sources/") || path.hasPrefix("Benchmarks/") }

    /// The functions of a file with at least ``most`` unlabelled parameters.
    static func functions(in path: String, _ source: SwiftSource) -> [Function] {
        let lines = source.codeLines
        return lines.indices.compactMap { index in
            let line = lines[index]
            guard line.has("func") || line.has("init") || line.has("subscript"),
                let match = line.firstMatch(of: declaration)
            else { return nil }
            let head = [line[match.range.upperBound...]] + lines[(index + 1)...].prefix(40)
            let count = unlabelled(head.joined(separator: " "))
            guard count >= most else { return nil }
            let name = match.output.1 ?? match.output.2 ?? ""
            return Function(path: path, line: index + 1, name: String(name), unlabelled: count)
        }
    }

    static func violations(of functions: [Function]) -> [Violation] {
        var violations = functions.filter { $0.unlabelled > most }.map { function in
            let rule = "\(function.name): \(function.unlabelled) parameters without a label, more than \(most)"
            return Violation(path: function.path, line: function.line, rule: rule)
        }
        for (room, found) in Dictionary(grouping: functions.filter { $0.unlabelled == most }, by: \.room) {
            let allowed = standing[room] ?? 0
            guard found.count > allowed else { continue }
            let rule = "\(found.count) functions with \(most) parameters without a label, more than \(allowed)"
            violations.append(Violation(path: room, rule: rule))
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
