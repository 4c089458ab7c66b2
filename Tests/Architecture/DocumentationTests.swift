import Testing

@Suite struct DocumentationTests {
    @Test("the architecture names every target except the engines, which share one line")
    func everyTargetIsNamed() throws {
        let text = try Checkout.text("docs/architecture.md")
        for target in PackageManifest(try Checkout.text("Package.swift")).targets where target.kind != .engine {
            #expect(text.contains("`\(target.name)`"), "docs/architecture.md does not mention \(target.name)")
        }
    }

    @Test("every link between documents leads to a file")
    func linksLead() throws {
        var count = 0
        for file in Checkout.files where file.path.hasSuffix(".md") {
            let folder = file.path.split(separator: "/").dropLast()
            for match in file.text.matches(of: /\]\(([^)#\s]+)(?:#[^)]*)?\)/) where !match.output.1.contains("://") {
                var parts = folder.map(String.init)
                for part in match.output.1.split(separator: "/") {
                    if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(String(part)) }
                }
                count += 1
                #expect(Checkout.exists(parts.joined(separator: "/")), "\(file.path) links to \(match.output.1)")
            }
        }
        #expect(count > 5)
    }

    @Test(
        "every source named in the guide to a room exists",
        arguments: [("docs/storage.md", Floors.storage), ("docs/objects.md", Floors.objects)])
    func guidesLead(guide: String, floors: Floors) throws {
        let text = try Checkout.text(guide)
        let named = Set(text.matches(of: /`([\w+\/]+\.swift)`/).map { String($0.output.1) })
        #expect(named.count > 20)
        for name in named.sorted() {
            let places = ["\(floors.room)\(name)", "Sources/Engine/\(name)", name]
            #expect(places.contains(where: Checkout.exists), "\(guide) names \(name)")
        }
    }

    /// The files that declare each type, nested types included.
    private static let places: [String: [String]] = {
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        var places: [String: [String]] = [:]
        for file in Checkout.files where file.isSwift {
            for line in file.text.split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 6)
                guard let kind = words.firstIndex(where: { kinds.contains($0) }), kind + 1 < words.count,
                    words[..<kind].allSatisfy({ word in word.allSatisfy { $0.isLetter || "@()".contains($0) } })
                else { continue }
                let name = words[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                places[String(name), default: []].append(file.path)
            }
        }
        return places
    }()

    /// Finds the types that a text names in backticks outside blocks of code.
    /// - Returns: all of them; and those with a folder in parentheses after them, as in `Runner` (Runs).
    static func types(namedIn text: String) -> (all: Set<String>, placed: [(name: String, folder: String)]) {
        var isCode = false
        var prose = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            if isCode { continue }
            prose.append(contentsOf: line.drop { $0 == " " })
            prose.append(" ")
        }
        let all = prose.matches(of: /`([A-Z][A-Za-z0-9]+)(?:\.\w+)?`/).map { String($0.output.1) }
        let lists = prose.matches(of: /((?:`[A-Z][\w.]+`(?:, and |, | and )?)+) \(([A-Z][\w\/]+)\)/)
        let placed = lists.flatMap { list in
            list.output.1.matches(of: /`([A-Z]\w+)/).map { name in
                (name: String(name.output.1), folder: String(list.output.2))
            }
        }
        return (Set(all), placed)
    }

    @Test(
        "the sources declare each type that a guide to the harness names, in the folder that the guide writes after it",
        arguments: ["docs/harness.md", "docs/reporting.md"])
    func typesAreDeclared(guide: String) throws {
        let (all, placed) = Self.types(namedIn: try Checkout.text(guide))
        let targets = Set(PackageManifest(try Checkout.text("Package.swift")).targets.map(\.name))
        #expect(all.count > 60 && placed.count > 40, "\(all.count) types, \(placed.count) with a folder")
        for name in all.sorted() where Self.places[name] == nil {
            #expect(targets.contains(name), "\(guide) names \(name), which no source declares")
        }
        for (name, folder) in placed {
            let files = Self.places[name] ?? []
            #expect(files.contains { $0.contains("/\(folder)/") }, "\(guide): no file in \(folder) declares \(name)")
        }
    }

    /// The page with the table of each room's floors, and whether the table begins with the lowest floor.
    private static let floorTables: [String: (isFromLow: Bool, rooms: [Floors])] = [
        "docs/storage.md": (false, [Floors.storage]),
        "docs/objects.md": (false, [Floors.objects]),
        "docs/harness.md": (true, [Floors.harness, .runRecords, .programTrials, .scenarios]),
        "docs/reporting.md": (true, [Floors.reporting]),
    ]

    @Test(
        "the guide to each room with floors describes all of them in their order, and no other", arguments: Floors.all)
    func floorsAreDescribed(floors: Floors) throws {
        let pages = Self.floorTables.filter { $0.value.rooms.contains { $0.room == floors.room } }
        #expect(pages.count == 1, "no guide describes the floors of \(floors.room)")
        for (page, (isFromLow, _)) in pages {
            let rows = PageRules.floors(of: floors.room, in: try Checkout.text(page))
            // The name of a room's own folder is empty.
            let folders = floors.folders.filter { !$0.isEmpty }
            #expect(rows.map(\.name) == (isFromLow ? folders : folders.reversed()), "\(page)")
            for row in rows { #expect(row.says.count >= 10, "\(page) does not say what \(row.name) is") }
        }
    }

    @Test("the search for floors reads the table after the room's path, and no other table")
    func floorTable() {
        let head = "| floor | what it knows | begin with |\n|---|---|---|\n"
        let text =
            "# Page\n\n`Sources/Engine/A` is one room.\n\n\(head)| Low, Middle | less | `B` |\n| High | | `C` |\n\n"
            + "| folder | use |\n|---|---|\n| Other | none |\n\n"
            + "`Sources/Engine/B`, not `Tests/B`:\n\n\(head)| Low | all | |\n"
        func rows(_ room: String) -> [String] {
            PageRules.floors(of: room, in: text).map { "\($0.name): \($0.says)" }
        }
        #expect(rows("Sources/Engine/A/") == ["Low: less", "Middle: less", "High: "])
        #expect(rows("Sources/Engine/B/") == ["Low: all"])
        #expect(rows("Sources/Engine/C/") == [])
    }

    @Test("the search finds types in backticks, with the folder in parentheses, and skips blocks of code")
    func typesAreFound() {
        let text = "`Plan` and `Case` (Cases),\n`Run.pairs` of `x`\n```\n`No` (No)\n```\n`A b`"
        let (all, placed) = Self.types(namedIn: text)
        #expect(all == ["Plan", "Case", "Run"])
        #expect(placed.map(\.name) == ["Plan", "Case"] && placed.allSatisfy { $0.folder == "Cases" })
    }

    @Test("every decision is listed")
    func decisionsAreListed() throws {
        let list = try Checkout.text("docs/decisions/README.md")
        for file in Checkout.files where file.path.contains(/^docs\/decisions\/\d{4}-.*\.md$/) {
            #expect(list.contains("(\(file.name))"), "docs/decisions/README.md does not list \(file.name)")
        }
    }

    @Test("the index of the documents lists every page")
    func pagesAreListed() throws {
        let index = try Checkout.text("docs/README.md")
        for file in Checkout.files where file.path.contains(/^docs\/[^\/]+\.md$/) && file.name != "README.md" {
            #expect(index.contains("(\(file.name)"), "docs/README.md does not list \(file.name)")
        }
    }

    /// The pages that teach Strata show the program in Examples/Guide, which Examples/check builds and runs.
    @Test("every Swift block in the guide is code of the example program")
    func guideIsCompiled() throws {
        func lines(_ text: some StringProtocol) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
        let sources = Checkout.files.filter { $0.path.hasPrefix("Examples/Guide/") && $0.name.hasSuffix(".swift") }
        let programs = sources.map { "\n" + lines($0.text).joined(separator: "\n") + "\n" }
        #expect(programs.count >= 5)
        var count = 0
        for page in ["getting-started", "models", "reading-and-writing", "threads-and-observers", "files"] {
            let text = try Checkout.text("docs/\(page).md")
            for match in text.matches(of: /(?ms)^```swift\n(.*?)^```$/) {
                let block = "\n" + lines(match.output.1).joined(separator: "\n") + "\n"
                count += 1
                #expect(programs.contains { $0.contains(block) }, "docs/\(page).md:\(block)")
            }
        }
        #expect(count > 12, "\(count) blocks")
    }

    @Test("every plan has a question for the heading of its report, of one sentence")
    func questions() {
        let plans = Checkout.files.filter { $0.path.hasPrefix("Benchmarks/Plans/") && $0.path.hasSuffix(".json5") }
        #expect(plans.count >= 19)
        for plan in plans {
            let questions = plan.text.matches(of: /(?m)^  question: "([A-Z][^"?.!]*)\?",$/)
            #expect(questions.count == 1, "\(plan.path)")
        }
    }

    @Test("every page begins with a sentence that says what it is for")
    func beginnings() {
        #expect(PageRules.pages.count > 100)
        for violation in PageRules.pages.compactMap(PageRules.beginning) { Issue.record("\(violation)") }
    }

    @Test("no page uses a word that the glossary retired")
    func retiredWords() throws {
        let words = PageRules.retiredWords(glossary: try Checkout.text(PageRules.glossary))
        #expect(words.contains("log segment") && StyleRules.namelessActors.isSubset(of: words), "\(words)")
        for violation in PageRules.pages.flatMap({ PageRules.uses(of: words, in: $0) }) {
            Issue.record("\(violation)")
        }
    }

    @Test(
        "a page that begins with something else than a sentence is seen",
        arguments: [
            "", "This page has no heading before it, and says nothing else.", "# Page", "# Page\n\n## Part\n\nText.",
            "# Page\n\n- an item of a list, with a sentence.", "# Page\n\n1. an item of a list, with a sentence.",
            "# Page\n\n| a table | of two columns, and more. |", "# Page\n\n```\ncode of the page, and more.\n```",
            "# Page\n\nWords on a page", "# Page\n\nToo short.", "# Page\n\nDate: 2026-11. Status: it is accepted.",
        ])
    func brokenBeginning(text: String) {
        #expect(PageRules.beginning(of: Checkout.File(path: "docs/page.md", text: text)) != nil)
    }

    @Test(
        "a page that begins with a sentence is accepted",
        arguments: ["This page says what it is for.", "`assay gate` compares two runs by counts.\n\n- a list"])
    func keptBeginning(text: String) {
        #expect(PageRules.beginning(of: Checkout.File(path: "docs/page.md", text: "# Page\n\n\(text)\n")) == nil)
    }

    @Test("a retired word is seen in prose and in a table, in any case, and not in code or inside of another word")
    func retiredWord() {
        let rows = "| not | but |\n|---|---|\n| turnstile | gate |\n| log group | log batch |\n"
        let table = "\(PageRules.retiredHeading)\n\n\(rows)"
        let words = PageRules.retiredWords(glossary: "| word | meaning |\n| page | 4 KiB |\n" + table)
        #expect(words == ["turnstile", "log group"])
        func lines(_ text: String, path: String = "docs/page.md") -> [Int?] {
            PageRules.uses(of: words, in: Checkout.File(path: path, text: text)).map(\.line)
        }
        #expect(lines("One.\nTurnstile reads it.\n| a | for turnstile. |") == [2, 3])
        #expect(lines("a log group, and (turnstile's)") == [1, 1])
        #expect(lines("`turnstile`, catalog groups\n```\nturnstile\n```\nand turnstiles") == [])
        #expect(lines(table, path: PageRules.glossary) == [])
        #expect(lines("turnstile\n" + table, path: PageRules.glossary) == [1])
    }

    @Test("README and CONTRIBUTING name only targets that the Makefile has")
    func makeTargetsExist() throws {
        let makefile = try Checkout.text("Makefile")
        let targets = Set(makefile.matches(of: /(?m)^([a-z-]+):/).map { String($0.output.1) })
        for path in ["README.md", "CONTRIBUTING.md"] {
            for match in try Checkout.text(path).matches(of: /`make ([a-z-]+)/) {
                #expect(targets.contains(String(match.output.1)), "\(path): make \(match.output.1)")
            }
        }
    }

    @Test("the continuous integration runs make test and nothing else")
    func integrationIsTheSameCommand() throws {
        let commands = try Checkout.text(".ci/run").split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(commands == ["set -eu", "cd \"$(dirname \"$0\")/..\"", "exec make test"])
    }

    @Test("measuring builds never contain planted bugs")
    func runHasNoZoo() throws {
        let makefile = try Checkout.text("Makefile")
        let build = try #require(makefile.firstMatch(of: /(?m)^build:.*\n(?:\t.*\n)+/)).output
        #expect(build.contains("-c release"))
        #expect(!build.contains("Zoo"))
    }
}
