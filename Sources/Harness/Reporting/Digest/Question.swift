import RunRecords

/// The questions that a report answers, in their order. A figure stands under the question that it answers.
enum Question: String, CaseIterable {
    case safe, fast, large, deleted, migrations

    var text: String {
        switch self {
        case .safe: "Is the data safe?"
        case .fast: "How fast is it?"
        case .large: "How large does it get?"
        case .deleted: "Are deleted objects safe?"
        case .migrations: "Are migrations safe?"
        }
    }

    /// The families whose outcomes answer the question, the most important first.
    var families: [Family] {
        switch self {
        case .safe: [.corruption, .crash, .concurrency, .relations, .queries, .planted]
        case .fast: [.workload]
        case .large: [.growth]
        case .deleted: [.invalidation]
        case .migrations: [.migration]
        }
    }
}

/// The standing of a case in a report: its verdict, or that it did not run.
enum Standing: Hashable {
    case judged(Verdict)
    /// The plan has the case, but the run was stopped before it.
    case notRun

    static let order: [Standing] = [
        .judged(.violation), .judged(.suspectedHarness), .judged(.harnessError), .judged(.inconclusive),
        .judged(.known), .judged(.unpromised),
        .judged(.pass), .notRun, .judged(.notBuilt), .judged(.notApplicable),
    ]

    var name: String {
        switch self {
        case .judged(let verdict): verdict.rawValue
        case .notRun: "not-run"
        }
    }

    /// The name with spaces: `harness error`.
    var words: String {
        name.split(separator: "-").joined(separator: " ")
    }

    var symbol: String {
        switch self {
        case .judged(.pass): "\u{2713}"
        case .judged(.violation): "\u{2717}"
        case .judged(.known): "\u{25C6}"
        case .judged(.unpromised): "\u{25CB}"
        case .judged(.notApplicable): "\u{2013}"
        case .judged(.notBuilt): "\u{2205}"
        case .judged(.inconclusive): "?"
        case .judged(.suspectedHarness): "\u{2047}"
        case .judged(.harnessError): "!"
        case .notRun: "\u{2026}"
        }
    }

    var explanation: String {
        switch self {
        case .judged(.pass): "The engine kept everything that scenario, engine and durability class promise."
        case .judged(.violation): "The engine broke a promise: its own, or one that every engine must keep."
        case .judged(.known):
            "A violation that a list names, with its reason. It counts like others and does not fail the run."
        case .judged(.unpromised): "The engine damaged or lost data, and never promised to prevent or report that."
        case .judged(.notApplicable): "The engine cannot do what the scenario needs."
        case .judged(.notBuilt): "The engine is not part of this build."
        case .judged(.inconclusive): "The run allows no statement. The entry of the case has the reason."
        case .judged(.suspectedHarness):
            "Most engines, of several libraries, failed alike: likelier by the harness than by all "
                + "of them. The report blames no engine."
        case .judged(.harnessError): "The harness itself failed, which says nothing about the engine."
        case .notRun: "The run stopped before this case; assay run --resume continues it."
        }
    }

    /// By priority: if several cases share a cell, it shows the one with the lowest rank.
    var rank: Int { Self.order.firstIndex(of: self) ?? Self.order.count }
}
