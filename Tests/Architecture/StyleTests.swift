import Testing

@Suite struct StyleTests {
    @Test("every text keeps the rules for names, words and paths")
    func texts() {
        #expect(Checkout.files.count > 50, "the checkout was not found")
        for violation in Checkout.files.flatMap(StyleRules.forText) { Issue.record("\(violation)") }
    }

    @Test("every Swift file keeps the rules for length, errors and access")
    func swiftFiles() {
        for violation in Checkout.swiftFiles.flatMap({ StyleRules.forSwift($0.file, $0.source) }) {
            Issue.record("\(violation)")
        }
    }

    @Test("an exception has a reason, and is still needed")
    func exceptions() throws {
        for (path, reason) in StyleRules.longFiles {
            #expect(!reason.isEmpty)
            let lines = try Checkout.text(path).split(separator: "\n", omittingEmptySubsequences: false).count - 1
            #expect(lines > StyleRules.longestFile, "\(path) needs no exception any more")
        }
        for (place, reason) in StyleRules.longFunctions {
            #expect(!reason.isEmpty)
            #expect(Checkout.files.contains { place.hasPrefix($0.path + ": ") }, "\(place) is gone")
        }
    }

    @Test("no type exceeds its limit of lines, and none is newly cut into files")
    func types() throws {
        let files = Checkout.swiftFiles.map { (path: $0.file.path, source: $0.source) }
        for violation in TypeSizes.violations(in: files) { Issue.record("\(violation)") }
        for violation in TypeSizes.violations(ofCuts: TypeSizes.cuts(files)) { Issue.record("\(violation)") }
        let sizes = TypeSizes.sizes(files)
        let contributing = try Checkout.text("CONTRIBUTING.md")
        for (type, reason) in TypeSizes.longTypes {
            #expect(!reason.isEmpty)
            #expect(sizes[type] ?? 0 > TypeSizes.longestType, "\(type) needs no exception any more")
            let name = type.split(separator: " ").last ?? ""
            #expect(contributing.contains("`\(name)`"), "CONTRIBUTING.md does not name the exception \(name)")
        }
    }

    @Test("no folder exceeds its limit of files, and one that does is found")
    func folders() {
        for violation in FolderSizes.violations(in: Checkout.swiftFiles.map(\.file.path)) {
            Issue.record("\(violation)")
        }
        let paths = (1...FolderSizes.mostFiles).map { "Sources/Engine/A/File\($0).swift" }
        #expect(FolderSizes.violations(in: paths + ["Sources/Engine/A/Inner/One.swift"]) == [])
        #expect(FolderSizes.violations(in: paths + ["Sources/Engine/A/One.swift"]).map(\.path) == ["Sources/Engine/A"])
    }

    @Test("the rule finds a name that two folders have without a common purpose, and a purpose of fewer than two")
    func folderNames() {
        for violation in FolderNames.violations(in: Checkout.swiftFiles.map(\.file.path)) {
            Issue.record("\(violation)")
        }
        let paths = [
            "Sources/Engine/A/Inner/One.swift", "Sources/Engine/A/Inner/Two.swift", "Sources/Engine/B/Runs/Three.swift",
        ]
        func found(_ others: String...) -> [String] {
            FolderNames.violations(in: paths + others, shared: ["Runs": "runs"]).map(\.path)
        }
        #expect(found("Sources/Engine/C/Runs/Four.swift", "Tests/Inner/Five.swift") == [])
        for folder in ["Sources/Engine/B/Inner", "Benchmarks/Inner", "Sources/Engine/A/Deep/Inner"] {
            let both = ["Sources/Engine/A/Inner", folder].sorted().joined(separator: ", ")
            #expect(found("Sources/Engine/C/Runs/Four.swift", folder + "/One.swift") == [both])
        }
        #expect(found("Tests/Runs/Four.swift") == ["Runs"], "only one folder of the sources has the shared name")
    }

    @Test("a type that is too long is found, in one file or in several")
    func longType() {
        let body = String(repeating: "    // a line\n", count: 299)
        let half = "struct House {\n\(body)}\n"
        let more = "extension House {\n\(body)}\n"
        func found(_ files: (String, String)...) -> [Violation] {
            TypeSizes.violations(in: files.map { ($0.0, SwiftSource($0.1)) })
        }
        #expect(found(("Sources/Engine/A/House.swift", half)) == [])
        #expect(found(("Sources/Engine/A/House.swift", half), ("Sources/Engine/A/Rooms.swift", more)).count == 1)
        #expect(found(("Sources/Engine/A/House.swift", half + more)).count == 1)
        #expect(found(("Sources/Engine/A/House.swift", "struct House {\n\(body)\(body)    // one\n}\n")).count == 1)
        #expect(found(("Sources/Engine/A/House.swift", half), ("Sources/Engine/B/House.swift", half)) == [])
        #expect(found(("Sources/Engine/A/House.swift", half + more.replacing("House", with: "Garden"))) == [])
        func conditional(_ text: String, _ condition: String) -> String {
            "#if \(condition)\n\(text.replacing(#/(?m)^(?=.)/#, with: "    "))#else\n    import Other\n#endif\n"
        }
        let linked = conditional(half, "SQLite")
        #expect(found(("Sources/Engine/A/House.swift", linked)) == [])
        #expect(found(("Sources/Engine/A/House.swift", linked + more)).count == 1)
        #expect(
            found(("Sources/Engine/A/House.swift", half + conditional(conditional(more, "SQLite"), "Zoo"))).count == 1)
        #expect(found(("Sources/Engine/A/House.swift", linked + "struct Garden {\n\(body)}\n")) == [])
    }

    @Test("a new cut is found, and a removed one")
    func newCut() {
        let house = ("Sources/Engine/A/House.swift", SwiftSource("struct House {}\n"))
        let more = ("Sources/Engine/A/House+Rooms.swift", SwiftSource("extension House {}\n"))
        let foreign = ("Sources/Engine/A/Int+Rooms.swift", SwiftSource("extension Int {}\n"))
        #expect(TypeSizes.cuts([house, foreign]) == [:])
        let cuts = TypeSizes.cuts([house, more])
        #expect(cuts == ["Sources/Engine/A": [more.0]])
        let standing = TypeSizes.standingCuts.mapValues { Array(repeating: "A+B.swift", count: $0) }
        #expect(TypeSizes.violations(ofCuts: standing) == [])
        #expect(TypeSizes.violations(ofCuts: standing.merging(cuts) { $1 }).map(\.path) == ["Sources/Engine/A"])
        #expect(TypeSizes.violations(ofCuts: [:]).count == standing.count)
    }

    @Test(
        "a broken rule is found",
        arguments: [
            "let a = try! read()", "_ = try? write()", "    try? write()", "let a = b!", "let a = c as! D",
            "@Test(.timeLimit(.minutes(1))) func a() {}", "public struct A {}",
            "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 1",
            "let " + String(repeating: "a", count: 120), "// TO" + "DO: later", "let path = \"/ho" + "me/a-user/x\"",
            "func a() {\n" + String(repeating: "    b()\n", count: 60) + "}",
            String(repeating: "let a = 1\n", count: 401),
        ])
    func brokenRule(text: String) {
        let file = Checkout.File(path: "Sources/Harness/Harness/A.swift", text: text + "\n")
        #expect(StyleRules.forText(file) + StyleRules.forSwift(file, SwiftSource(text + "\n")) != [])
    }

    @Test(
        "a rule ignores text that only looks like a violation",
        arguments: [
            "// try! here", "let a = \"try! b!\"", "let a = !b", "if a != b {}",
            "/* public /* nested */ x! */ let a = 1",
            "let a = #\"b! \"quoted\" c!\"#", "let a = \"\"\"\n  b!\n  \"\"\"", "let a = \"\\(b)!\"",
            "guard try? a() else {}",
            "// Guarded by the mutex of the store.\nfinal class A: @unchecked Sendable {}",
            "func a() {\n" + String(repeating: "    b()\n", count: 58) + "}",
            "protocol A {\n    func a()\n    func b()\n}\nstruct B {\n" + String(repeating: "    // c\n", count: 70)
                + "}",
        ])
    func keptRule(text: String) {
        let file = Checkout.File(path: "Sources/Harness/Harness/A.swift", text: text + "\n")
        #expect(StyleRules.forText(file) + StyleRules.forSwift(file, SwiftSource(text + "\n")) == [])
    }

    @Test("code inside an interpolation counts as code, the string around it does not")
    func interpolation() {
        let source = SwiftSource("let a = \"x! \\(f(b!, \"y!\"))\" // z!\n")
        #expect(source.code.filter { $0 == "!" }.count == 1)
        #expect(source.withoutComments.filter { $0 == "!" }.count == 3)
    }

    @Test("an empty name is found", arguments: StyleRules.emptyNames)
    func emptyName(name: String) {
        let file = Checkout.File(path: "Sources/Harness/Harness/Page\(name).swift", text: "")
        #expect(StyleRules.forText(file).count == 1)
    }

    @Test("an actor without a name is found in code and prose", arguments: StyleRules.namelessActors.sorted())
    func namelessActor(word: String) {
        for text in ["// \(word) waits.", "\(word.capitalized)'s lock", "let a = \"for \(word)\"", "_\(word)_ reads"] {
            #expect(StyleRules.forText(Checkout.File(path: "docs/a.md", text: text)).count == 1, "\(text)")
        }
        let kept = Checkout.File(path: "docs/a.md", text: "antibody of a body, \(word)s, whosoever")
        #expect(StyleRules.forText(kept) == [])
        let list = Checkout.File(path: PageRules.glossary, text: "\(PageRules.retiredHeading)\n| \(word) | caller |")
        #expect(StyleRules.forText(list) == [])
    }

    @Test("storage and the fault model have no clock and no randomness of their own")
    func noClock() {
        let sources = [
            "clock_gettime", "gettimeofday", "ContinuousClock", "SuspendingClock", "SystemRandomNumberGenerator",
            "getrandom", "arc4random", "usleep", "nanosleep", "Date()",
        ]
        for (file, source) in Checkout.swiftFiles
        where file.path.hasPrefix("Sources/Engine/StrataStorage/") || file.path.hasPrefix("Sources/Harness/FaultModel/")
        {
            for word in sources {
                #expect(!source.code.contains(word), "\(file.path): \(word); time and randomness are passed in")
            }
        }
    }
}
