import Foundation

/// The command line, with the same options as the programs in C.
struct Request {
    var workload = ""
    var directory = ""
    var durability = "full"
    var isPrepared = false
    var isSnapshotEach = false
    var seed: UInt64 = 1
    private var numbers = [
        "--rows": 1_000_000, "--commits": 2_000, "--threads": 4, "--transactions": 200, "--updates": 1_000,
        "--rounds": 3,
    ]

    var rows: Int { numbers["--rows"] ?? 0 }
    var commits: Int { numbers["--commits"] ?? 0 }
    var threads: Int { max(1, numbers["--threads"] ?? 1) }
    var transactions: Int { numbers["--transactions"] ?? 0 }
    var updates: Int { numbers["--updates"] ?? 0 }
    var rounds: Int { max(1, numbers["--rounds"] ?? 1) }

    init(_ words: [String]) {
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            if !word.hasPrefix("--"), workload.isEmpty {
                workload = word
                continue
            }
            guard index < words.count else { Self.wrong("\(word) needs a value") }
            take(word, words[index])
            index += 1
        }
        if workload.isEmpty || directory.isEmpty { Self.wrong("WORKLOAD --directory DIR [--rows N] ..") }
    }

    private mutating func take(_ word: String, _ value: String) {
        switch word {
        case "--directory": directory = value
        case "--durability": durability = Self.choice(word, value, ["full", "periodic", "none"])
        case "--file": isPrepared = Self.choice(word, value, ["empty", "prepared"]) == "prepared"
        case "--snapshot": isSnapshotEach = Self.choice(word, value, ["batch", "each"]) == "each"
        // Writers always run one at a time, in the order of their requests: there is no other mode.
        case "--writers": _ = Self.choice(word, value, ["serialized", "busy"])
        case "--seed":
            guard let number = UInt64(value) else { Self.wrong("\(word) needs a whole number, not \(value)") }
            seed = number
        default:
            guard numbers[word] != nil else { Self.wrong("unknown option \(word)") }
            guard let number = Int(value), number >= 0 else {
                Self.wrong("\(word) needs a whole number from 0, not \(value)")
            }
            numbers[word] = number
        }
    }

    private static func choice(_ name: String, _ value: String, _ allowed: [String]) -> String {
        guard allowed.contains(value) else {
            wrong("\(name) is one of \(allowed.joined(separator: ", ")), not \(value)")
        }
        return value
    }

    static func wrong(_ message: String) -> Never {
        FileHandle.standardError.write(Data("control-strata: \(message)\n".utf8))
        exit(64)
    }
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("control-strata: \(message)\n".utf8))
    exit(1)
}

func expect<Value: Equatable>(_ what: String, _ expected: Value, _ got: Value) {
    if expected != got { fail("\(what): expected \(expected), got \(got)") }
}

func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
