import CaseFiles
import Commands
import Harness
import RunRecords
import Seeds

/// The actions of an object script: their arguments, how often they are drawn, and their description.
enum CardOperation {
    enum Kind: String, CaseIterable {
        // Changes, each in a write of its own unless one is open.
        case create, rename, rank, link, unlink, append, insert, remove, clear, delete, replace, empty
        case begin, commit, cancel
        // The same from another instance of the Realm, on another thread.
        case elsewhere, elsewhereDelete = "elsewhere-delete"
        // References that a program holds.
        case hold, freeze, keepList = "keep-list", handOver = "hand-over"
        case watchCard = "watch-card", watchList = "watch-list", watchResults = "watch-results", unwatch
        case refresh, invalidate, reopen, migrate

        /// Names of its numbers.
        var arguments: [String] {
            switch self {
            case .create, .rename, .rank, .replace, .elsewhere: ["card", "number"]
            case .link, .append: ["card", "other"]
            case .insert: ["card", "other", "place"]
            case .remove: ["card", "place"]
            case .unlink, .clear, .delete, .elsewhereDelete, .handOver: ["card"]
            case .hold, .freeze, .keepList, .watchCard, .watchList: ["slot", "card"]
            case .watchResults: ["slot", "results"]
            case .unwatch: ["slot"]
            case .empty, .begin, .commit, .cancel, .refresh, .invalidate, .reopen, .migrate: []
            }
        }

        /// Frequency, of about a hundred.
        var weight: Int {
            switch self {
            case .create: 24
            case .append, .link: 10
            case .rename, .rank, .delete: 8
            case .hold, .watchResults, .watchCard, .watchList: 6
            case .insert, .commit, .elsewhere, .elsewhereDelete, .refresh: 5
            case .remove, .begin, .cancel, .replace, .freeze, .keepList, .handOver, .unlink: 4
            case .clear, .unwatch, .invalidate, .migrate: 2
            case .empty, .reopen: 1
            }
        }
    }

    static func kind(_ operation: ScriptOperation) throws -> Kind {
        guard let kind = Kind(rawValue: operation.action) else {
            throw HarnessError(
                NearestName.complaint("operation", operation.action, among: Kind.allCases.map(\.rawValue).sorted()))
        }
        guard operation.arguments.count == kind.arguments.count else {
            let names = kind.arguments.isEmpty ? "no numbers" : kind.arguments.joined(separator: ", ")
            throw HarnessError("\(kind.rawValue) takes \(names): \(operation)")
        }
        guard operation.arguments.allSatisfy({ $0 < 1 << 40 }) else {
            throw HarnessError("numbers of an operation end below 2^40: \(operation)")
        }
        return kind
    }

    /// The operations drawn from the seed.
    static func drawn(_ test: Case) -> [ScriptOperation] {
        var random = RandomStream(test.seed.derived("history"))
        let cards = test.integer("cards")
        let slots = test.integer("slots")
        let total = Kind.allCases.reduce(0) { $0 + $1.weight }
        return (0..<test.integer("operations")).map { number in
            var left = random.below(total)
            var kind = Kind.create
            for candidate in Kind.allCases {
                kind = candidate
                if left < candidate.weight { break }
                left -= candidate.weight
            }
            let arguments = kind.arguments.map { name in
                switch name {
                case "card", "other": random.below(cards)
                case "slot": random.below(slots)
                case "results": random.below(CardShelf.results.count)
                default: random.below(100)
                }
            }
            return ScriptOperation(label: "op-\(number)", action: kind.rawValue, arguments: arguments)
        }
    }

    /// Describes an operation in a sentence, for a reader who does not know the format.
    static func words(_ operation: ScriptOperation) -> String? {
        guard let kind = try? kind(operation) else { return nil }
        let numbers = operation.arguments
        let (first, second) = (numbers.first ?? 0, numbers.count > 1 ? numbers[1] : 0)
        switch kind {
        case .create: return "card \(first) is made, unless it is there: '\(CardModel.title(second))'"
        case .rename: return "card \(first) is renamed '\(CardModel.title(second))'"
        case .rank: return "card \(first) gets rank \(CardModel.rank(second))"
        case .link: return "card \(first) links to card \(second)"
        case .unlink: return "the link of card \(first) is set to nil"
        case .append: return "card \(second) is appended to the list of card \(first)"
        case .insert:
            return "card \(second) is inserted into the list of card \(first), at \(numbers[2]) or its remainder"
        case .remove: return "one element is removed from the list of card \(first), at \(second) or its remainder"
        case .clear: return "the list of card \(first) is emptied"
        case .delete: return "card \(first) is deleted"
        case .replace: return "card \(first) is deleted, and a new one takes its key, in one write"
        case .empty: return "all cards are deleted"
        case .begin: return "a write begins, and stays open"
        case .commit: return "the open write is committed"
        case .cancel: return "the open write is cancelled"
        case .elsewhere: return "another thread renames card \(first) '\(CardModel.title(second))', or makes it"
        case .elsewhereDelete: return "another thread deletes card \(first)"
        case .hold: return "the program holds card \(second), as object \(first)"
        case .freeze: return "the program holds card \(second) frozen, as object \(first)"
        case .keepList: return "the program holds the list of card \(second), as object \(first)"
        case .handOver: return "card \(first) is handed to another thread by a ThreadSafeReference"
        case .watchCard: return "card \(second) is observed, as observer \(first)"
        case .watchList: return "the list of card \(second) is observed, as observer \(first)"
        case .watchResults:
            return "\(CardShelf.results[second % CardShelf.results.count]) are observed, as observer \(first)"
        case .unwatch: return "observer \(first) is removed"
        case .refresh: return "the Realm is refreshed"
        case .invalidate: return "the Realm is invalidated, then refreshed"
        case .reopen: return "all is let go of, and the file opened again"
        case .migrate: return "all is let go of, and the file opened with the next schema version"
        }
    }
}
