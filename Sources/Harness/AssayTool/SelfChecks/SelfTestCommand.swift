import Commands
import Files
import Harness
import Platform

#if Zoo
    import Zoo
#endif

struct SelfTestCommand: Command {
    let name = "self-test"
    let summary = "plants mistakes under the scenarios, and shows which scenarios find them"
    let question = "does each scenario find a planted mistake?"
    let positional: [String] = []
    let examples = [
        CommandExample("self-test --scenario bit-flip --one-engine", "the mistakes of one scenario"),
        CommandExample("self-test --csv FILE", "all of them, with a row for each"),
    ]
    let exitStatus = "0 the scenarios found every mistake, 2 a mistake survived"
    let options = [
        OptionSpecification("--scenario", value: "NAME,..", "only these"),
        OptionSpecification("--mistake", value: "NAME,..", "only these, and no mistake"),
        OptionSpecification("--one-engine", "each mistake under the first engine of its row alone"),
        OptionSpecification("--csv", value: "FILE", "writes a row for each case"),
        OptionSpecification("--lanes", value: "N", "cases at a time (the number of processors, at most 4)"),
        OptionSpecification("--plans", value: "DIR", "the directory of the plans; lists of mistakes are beside them"),
    ]

    func run(_ arguments: Arguments) throws -> Int32 {
        #if Zoo
            return try plant(arguments)
        #else
            throw UsageError(
                "this build has no planted mistakes, so that it can measure: `make self-test` builds one that has",
                command: name)
        #endif
    }

    #if Zoo
        private static let mistakes = PlantedMistakes.names

        private func plant(_ arguments: Arguments) throws -> Int32 {
            Interruption.install()
            let executable = Checkout.executablePath(fallback: CommandLine.arguments[0])
            let registries = BuildRegistries.make()
            let checkout = try Checkout.find(given: arguments.value("--plans"), executable: executable)
            let list = try MistakeList(of: checkout, content: EngineMistake.content.map(\.rawValue))
            var cases = try list.cases(registries, mistakes: Self.mistakes)
            let slugs = registries.scenarios.listed.map(\.slug)
            try filter(&cases, arguments, slugs)
            guard !cases.isEmpty else {
                throw UsageError("Benchmarks/Mistakes has no row for these options", command: name)
            }
            // Every scenario that is tested must find a mistake. With --mistake none must, since few scenarios can see
            // a given one.
            let asked = arguments.list("--scenario")
            let judged = arguments.has("--mistake") ? [] : asked.isEmpty ? slugs : asked
            let given = try arguments.unsigned("--lanes").map { Int($0) }
            let lanes = max(1, given ?? min(4, MachineInspection.processorCount()))
            let scratch = try ScratchDirectory.make(in: getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")
            // In memory no cache can be made cold. Such cases would be skipped, and thus find no mistake.
            if try !PageCache.canDrop(in: scratch.files) {
                cases.removeAll(where: \.planned.test.isCold)
                try Output.line("left out: cold caches, which \(scratch.files) cannot have")
            }
            var test = SelfTest(
                executable: executable, registries: registries, directory: scratch.files, lanes: lanes)
            let count = cases.count
            let results: [MistakenResult]
            do {
                results = try test.run(cases) { done, result in
                    if !result.isRight { Output.error("[\(done)/\(count)] \(Self.complaint(result))") }
                }
            } catch {
                try scratch.remove()
                throw error
            }
            try scratch.remove()
            let verdict = SelfTestVerdict(
                results, slugs: judged, excused: Set(list.excused.keys))
            try print(verdict, list)
            if let file = arguments.value("--csv") { try FileTree.writeText(file, Self.csv(results)) }
            if Interruption.isRequested { return Interruption.exitStatus }
            return verdict.isRight ? 0 : 2
        }

        private func filter(_ cases: inout [MistakenCase], _ arguments: Arguments, _ slugs: [String]) throws {
            let scenarios = arguments.list("--scenario")
            for slug in scenarios where !slugs.contains(slug) {
                throw UsageError(NearestName.complaint("scenario", slug, among: slugs), command: name)
            }
            let wanted = arguments.list("--mistake")
            for mistake in wanted where !Self.mistakes.contains(mistake) {
                throw UsageError(NearestName.complaint("mistake", mistake, among: Self.mistakes), command: name)
            }
            if !scenarios.isEmpty { cases.removeAll { !scenarios.contains($0.planned.test.scenario) } }
            if arguments.has("--one-engine") {
                var seen: Set<String> = []
                cases.removeAll { !seen.insert(Self.withoutEngine($0)).inserted }
            }
            guard !wanted.isEmpty else { return }
            cases.removeAll { $0.mistake.map { !wanted.contains($0) } ?? false }
            let planted = Set(cases.filter { $0.mistake != nil }.map(\.planned.test.id))
            cases.removeAll { !planted.contains($0.planned.test.id) }
        }

        /// The key of cases that differ only in their engine.
        private static func withoutEngine(_ mistaken: MistakenCase) -> String {
            let test = mistaken.planned.test
            return "\(test.scenario) \(test.dataset) \(test.size) \(test.parameterText) \(test.durability) "
                + (mistaken.mistake ?? "")
        }

        private func print(_ verdict: SelfTestVerdict, _ list: MistakeList) throws {
            for (slug, results) in verdict.scenarios {
                try Output.line(slug)
                for result in results {
                    try Output.line(
                        "  " + Self.padded(result.test.engine, 16) + Self.padded(result.mistake ?? "no mistake", 34)
                            + Self.padded(result.verdict.rawValue, 16) + (result.isRight ? "" : "WRONG"))
                }
            }
            let found = verdict.scenarios.flatMap(\.results).count { $0.mistake != nil && $0.isRight }
            try Output.line()
            try Output.line("\(found) mistakes found by \(verdict.scenarios.count) scenarios")
            for (scenario, reason) in list.excused.sorted(by: { $0.key < $1.key }) {
                try Output.line("excused: \(scenario): \(reason)")
            }
            for result in verdict.wrong { try Output.line("WRONG  \(Self.complaint(result))") }
            for slug in verdict.withoutAny {
                try Output.line("WRONG  \(slug) has found no mistake: its verdicts show nothing about an engine")
            }
        }

        private static func complaint(_ result: MistakenResult) -> String {
            let place = "\(result.test.scenario) on \(result.test.engine)"
            guard let mistake = result.mistake else {
                return "\(place), without a mistake: \(result.verdict.rawValue), \(result.message)"
            }
            return "\(place), \(mistake): expected \(result.expectation.rawValue), got \(result.verdict.rawValue)"
                + (result.message.isEmpty ? "" : ", \(result.message)")
        }

        private static func csv(_ results: [MistakenResult]) -> String {
            let rows = results.map { result in
                [
                    result.test.scenario, result.test.engine, result.mistake ?? "", result.expectation.rawValue,
                    result.verdict.rawValue, result.isRight ? "true" : "false",
                    "\((result.seconds * 10).rounded() / 10)",
                ].joined(separator: ",")
            }
            return (["scenario,engine,mistake,expected,verdict,right,seconds"] + rows).joined(separator: "\n") + "\n"
        }

        private static func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
    #endif
}
