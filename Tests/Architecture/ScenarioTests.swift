import Testing

/// Adding a scenario takes one file and one line of registration: no other source may name a scenario.
@Suite struct ScenarioTests {
    struct Declaration: CustomStringConvertible {
        let type: String
        let slug: String
        let path: String
        /// The family named in its file, or in the file of its protocol; empty if neither names one.
        let family: String
        var description: String { slug }
    }

    /// A file with its words, computed once, since each scenario is searched in all files.
    struct Text {
        let path: String
        let source: SwiftSource
        let words: Set<Substring>

        init(_ path: String, _ source: SwiftSource) {
            self.path = path
            self.source = source
            words = Set(source.code.split { !($0.isLetter || $0.isNumber || $0 == "_") })
        }
    }

    static let folders = ["Benchmarks/Scenarios/", "Benchmarks/ObjectScenarios/", "Benchmarks/MigrationScenarios/"]

    /// The types of the scenario folders that conform to Scenario, or to a protocol whose name ends so, with the slug
    /// that follows them.
    static func declarations(in files: [Text]) -> [Declaration] {
        files.flatMap { file in
            let text = file.source.withoutComments
            let types = text.matches(of: /(?m)^(?:struct|final class|enum) (\w+):[^{\n]*\b(\w*Scenario)\b/)
            return types.map { match in
                let slug = text[match.range.upperBound...]
                    .firstMatch(of: /\bslug\b(?:: String)?\s*(?:=|\{)\s*(?:return\s+)?"([a-z0-9-]+)"/)
                let general = files.first { $0.path.hasSuffix("/\(match.output.2).swift") }
                return Declaration(
                    type: String(match.output.1), slug: slug.map { String($0.output.1) } ?? "", path: file.path,
                    family: family(in: file.source) ?? general.flatMap { family(in: $0.source) } ?? "")
            }
        }
    }

    /// The family that a file names: `let family = Family.crash`, or `var family: Family { .crash }`.
    static func family(in source: SwiftSource) -> String? {
        source.withoutComments.firstMatch(of: /\bfamily(?:: Family)?\W+(?:Family)?\.(\w+)/).map { String($0.output.1) }
    }

    /// The Swift files without tests that name the scenario: by its type, or by its slug if that is no ordinary word.
    static func filesThatKnow(_ scenario: Declaration, among files: [Text]) -> Set<String> {
        let known = files.filter { file in
            if file.words.contains(Substring(scenario.type)) { return true }
            return scenario.slug.contains("-") && file.source.withoutComments.contains("\"\(scenario.slug)\"")
        }
        return Set(known.map(\.path))
    }

    static let faultWords = "Sources/Harness/Reporting/Words/FaultWords.swift"

    static let production: [Text] = Checkout.swiftFiles
        .filter { $0.file.path.hasPrefix("Sources/") || $0.file.path.hasPrefix("Benchmarks/") }
        // Control programs, which measure a scenario's work without the harness.
        .filter { !$0.file.path.hasPrefix("Benchmarks/Controls/") }
        // Words for what scenarios do, by slug.
        .filter { $0.file.path != faultWords }
        .map { Text($0.file.path, $0.source) }

    static func scenarioFiles() -> [Text] {
        production.filter { file in folders.contains { file.path.hasPrefix($0) } }
    }

    @Test("only its own file and the registration name a scenario")
    func twoFiles() {
        let scenarios = Self.declarations(in: Self.scenarioFiles())
        #expect(scenarios.count >= 14, "the scenarios of the first cut were not found")
        for scenario in scenarios {
            let folder = Self.folders.first { scenario.path.hasPrefix($0) } ?? ""
            // MigrationScenarios/MigrationScenarioRegistration.swift
            let room = folder.split(separator: "/").last ?? ""
            let registration = "\(folder)\(room.dropLast())Registration.swift"
            let known = Self.filesThatKnow(scenario, among: Self.production)
            #expect(known == [scenario.path, registration], "\(scenario.slug)")
        }
    }

    @Test("a file has one scenario, and every scenario a slug of its own")
    func oneEach() {
        let scenarios = Self.declarations(in: Self.scenarioFiles())
        #expect(Set(scenarios.map(\.path)).count == scenarios.count)
        #expect(Set(scenarios.map(\.slug)).count == scenarios.count)
        #expect(!scenarios.contains { $0.slug.isEmpty })
    }

    @Test("a scenario is in the folder of its family")
    func familyFolder() {
        for scenario in Self.declarations(in: Self.scenarioFiles()) {
            // A large family has subfolders.
            let folder = scenario.path.split(separator: "/").dropFirst(2).dropLast().first.map { $0.lowercased() }
            #expect(folder == scenario.family, "\(scenario.slug)")
        }
    }

    @Test("the registration has one line for each scenario")
    func oneLine() {
        for scenario in Self.declarations(in: Self.scenarioFiles()) {
            let lines = Self.production.filter { $0.path.hasSuffix("Registration.swift") }
                .flatMap { $0.source.codeLines }
                .filter { $0.contains("(\(scenario.type)(") }
            #expect(lines.count == 1, "\(scenario.type)")
        }
    }

    @Test("each clause of a report about a scenario is about one that exists; faults, threads and growth have one")
    func clauses() throws {
        let source = try #require(Checkout.swiftFiles.first { $0.file.path == Self.faultWords }).source
        let words = Set(source.withoutComments.matches(of: /(?m)^ +"([a-z-]+)": "/).map { String($0.output.1) })
        let scenarios = Self.declarations(in: Self.scenarioFiles())
        #expect(words.count >= 60 && words.subtracting(scenarios.map(\.slug)).isEmpty)
        for scenario in scenarios where ["corruption", "crash", "concurrency", "growth"].contains(scenario.family) {
            #expect(words.contains(scenario.slug), "\(scenario.slug)")
        }
    }

    @Test("another file that names a scenario is found")
    func thirdFileIsSeen() {
        let files = [
            (
                "Benchmarks/Scenarios/Corruption/BitFlip.swift",
                "struct BitFlip: DamageScenario {\n    let slug = \"bit-flip\"\n}"
            ),
            (
                "Benchmarks/Scenarios/Corruption/DamageScenario.swift",
                "extension DamageScenario {\n    var family: Family { .corruption }\n}"
            ),
            ("Benchmarks/Scenarios/ScenarioRegistration.swift", "registry.register(BitFlip())"),
            ("Sources/Harness/Harness/Runner.swift", "if test.scenario == \"bit-flip\" { skip() }"),
            ("Sources/Harness/Harness/Worker.swift", "// BitFlip and \"bit-flip\" in a comment"),
        ].map { Text($0.0, SwiftSource($0.1)) }
        let found = Self.declarations(in: files)
        #expect(found.map(\.slug) == ["bit-flip"])
        #expect(found.map(\.family) == ["corruption"])
        #expect(found.map { Self.filesThatKnow($0, among: files).count } == [3])
    }
}
