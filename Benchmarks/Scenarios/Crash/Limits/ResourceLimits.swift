import Harness
import Platform
import RunRecords
import Seeds

/// Plays a script on an engine's own files in a process with fewer descriptors, threads or address space, or smaller
/// files, than the script needs: each trial has one limit, and the process that judges the result has none.
///
/// The need is measured without a limit first; the limits lie between zero and the need. An error is always allowed. A
/// process that the kernel ends by SIGXFSZ has the outcome `memory-limit`; its acknowledged commits must be there, too.
struct ResourceLimits: FaultedScenario {
    let slug = "resource-limits"
    let question = "Does an engine report that it gets no more files, threads or memory, and lose nothing?"
    let parameters =
        ScriptDraw.parameters() + [
            ScenarioParameter("trials", .effort, default: 80, range: 0...10_000, summary: "limits; 0: all"),
            ScenarioParameter(
                "limits", default: "all", allowed: ["all"] + ProcessLimit.Kind.allCases.map(\.rawValue),
                summary: "what is limited"),
            ScenarioParameter(
                "signal", default: "both", allowed: ["both", "default", "ignored"],
                summary: "what SIGXFSZ does when a file would get too large"),
        ]

    func promise(brokenBy outcome: Outcome) -> Promise.Kind? {
        switch outcome {
        case .crashed: .survivesDamage
        // Files are not judged by size here.
        case .memoryLimit, .overSize: .survivesLimits
        default: outcome.brokenPromise(or: expects)
        }
    }

    /// Sizes of files that are tried besides even steps.
    private static let firstSizes = [0, 1, 512, 4_096]
    private static let evenSteps = 12

    /// The limits of one kind between zero and the need of a script.
    static func limits(_ kind: ProcessLimit.Kind, need: Int) -> [ProcessLimit] {
        switch kind {
        case .descriptors:
            // A descriptor that is open for a moment is not seen when the need is measured.
            return (0...(need + 1)).map { ProcessLimit(kind, $0) }
        case .threads: return (0..<max(1, need)).map { ProcessLimit(kind, $0) }
        case .fileSize:
            let even = (1..<evenSteps).map { need * $0 / evenSteps }
            let sizes = Set(firstSizes + even).filter { $0 < max(1, need) }.sorted()
            return sizes.map { ProcessLimit(kind, $0) }
                + sizes.map { ProcessLimit(kind, $0, isSignalIgnored: true) }
        case .addressSpace:
            let powers = stride(from: 20, through: 40, by: 2).map { 1 << $0 }
            let even = (1..<4).map { need / 4 * $0 / 4_096 * 4_096 }
            return Set(powers + even).filter { $0 > 0 && $0 < need }.sorted().map { ProcessLimit(kind, $0) }
        }
    }

    func run(_ context: CaseContext) throws {
        guard let script = try FaultedScript(context, isMeasured: true) else { return }
        let limits = try chosen(context, script.calls)
        let isSwept = try context.sweep(
            limits, orElse: "the script needs nothing that can be limited", read: ProcessLimit.init
        ) { limit in
            var fault = ScriptFault()
            fault.begin = { if !ConditionMistake.limitLeftOut.isPlanted { try limit.set() } }
            fault.signal = limit.signal
            // Half of the processes close the database at their end, the others leave it as a kill does; as for failing
            // calls.
            fault.closes = limits.firstIndex(of: limit).map { $0 % 2 == 0 } ?? true
            return try script.attempt(fault, Self.tally(of: limit.kind, context))
        }
        if isSwept { try report(context) }
    }

    private static func tally(of kind: ProcessLimit.Kind, _ context: CaseContext) -> FaultTally {
        FaultTally(context, "limits", group: "-" + kind.rawValue)
    }

    /// The limits that this case tries. Adds notes to the report: what a script needs, and a limit that cannot be set.
    private func chosen(_ context: CaseContext, _ needs: ScriptCalls) throws -> [ProcessLimit] {
        let (wanted, signal) = (try context.text("limits"), try context.text("signal"))
        var all: [ProcessLimit] = []
        var words: [String] = []
        for kind in ProcessLimit.Kind.allCases where wanted == "all" || wanted == kind.rawValue {
            let need = needs.need(ScriptNeeds.Kind(kind))
            words.append("\(kind.rawValue) \(need)")
            if kind == .threads, let reason = try Self.reasonAgainstThreads() {
                context.report.note("SKIPPED: limit of threads: \(reason)")
                continue
            }
            all += Self.limits(kind, need: need).filter {
                $0.kind != .fileSize || signal == "both" || (signal == "ignored") == $0.isSignalIgnored
            }
        }
        context.report.note("a script needs, beyond what its process has: \(words.joined(separator: ", "))")
        return FairChoice(count: try context.integer("trials"), seed: context.seed.derived("limits"))
            .choose(from: all) { $0.group }
    }

    /// nil if threads can be limited.
    private static func reasonAgainstThreads() throws -> String? {
        guard ProcessRights.isRoot else { return "this process is not root: others of its user count, too" }
        let child = try ForkedChild.start { _ in
            do { try ProcessRights.becomeLonelyUser() } catch { return 1 }
            return 0
        }
        return child.wait() == .exited(0) ? nil : "this process may not become another user"
    }

    private func report(_ context: CaseContext) throws {
        var (struck, all) = (0, 0)
        for kind in ProcessLimit.Kind.allCases {
            let found = try Self.tally(of: kind, context).tell(context, label: kind.rawValue)
            if found.struck < found.of {
                context.report.note("NOT STRUCK: \(kind.rawValue): \(found.of - found.struck) of \(found.of)")
            }
            struck += found.struck
            all += found.of
        }
        context.report.add(.faultsStruck, Double(struck), statistic: "count", label: "of \(all) trials")
        context.require(struck, "no limit was met: nothing is known")
    }
}

extension ScriptNeeds.Kind {
    init(_ kind: ProcessLimit.Kind) {
        switch kind {
        case .descriptors: self = .descriptors
        case .fileSize: self = .fileSize
        case .threads: self = .threads
        case .addressSpace: self = .addressSpace
        }
    }
}
