import Testing

@Suite struct TestNamesTests {
    /// A suite with one test, by the lines of its attribute and its function.
    private static func suite(_ test: String, named name: String = "ATests") -> String {
        "@Suite struct \(name) {\n\(test)\n}\n"
    }

    private static func rules(_ texts: String...) -> [String] {
        let files = texts.enumerated().map { (path: "Tests/A/File\($0).swift", source: SwiftSource($1)) }
        return TestNames.violations(in: files).map(\.rule)
    }

    @Test("every suite and every test is named by the rules")
    func everyTest() {
        let files = Checkout.swiftFiles.map { (path: $0.file.path, source: $0.source) }
        #expect(files.contains { $0.source.code.has("@Test") }, "no test was found")
        for violation in TestNames.violations(in: files) { Issue.record("\(violation)") }
    }

    @Test(
        "a broken rule is found",
        arguments: [
            ("    @Test func `a b`() {}", "raw identifier"),
            ("    @Test(\"a b\") func `a \"b\"`() {}", "raw identifier"),
            ("    @Test(\n        \"a b\",\n        arguments: [1])\n    func `a`(b: Int) {}", "raw identifier"),
            ("    @Test func a() {}", "without a sentence"), ("    @Test(\"\") func a() {}", "without a sentence"),
            ("    @Test(.disabled(\"a b\"))\n    func a() {}", "without a sentence"),
            (
                "    @Test(\n        arguments: [\n            \"a b\",\n        ])\n    func a(b: String) {}",
                "a sentence"
            ),
            ("    @Test(\"a b.\") func a() {}", "full stop"),
            ("    @Test(\n        \"a b.\", arguments: [1])\n    func a(b: Int) {}", "full stop"),
            ("    @Test(\"a\") func a() {}\n\n    @Test(\n        \"a\")\n    func b() {}", "two tests of ATests"),
        ])
    func brokenRule(test: String, rule: String) {
        let found = Self.rules(Self.suite(test))
        #expect(found.contains { $0.contains(rule) }, "\(found)")
    }

    @Test(
        "names by the rules are accepted, and text that only looks like a test is ignored",
        arguments: [
            "    @Test(\"a b\") func a() {}", "    @Test(\"a b\")\n    func a() {}",
            "    @Test(\n        \"a b\",\n        arguments: [1])\n    @MainActor func a(b: Int) {}",
            "    @Test(\"a \\\"b\\\"\", .disabled())\n    private func a() {}",
            "    @Test(\"a\") func a() {}\n\n    @Test(\"b\") func b() {}",
            "    // @Test func `a`() {}", "    let a = \"@Test func a()\"",
            "    let a = \"\"\"\n        @Test func a()\n        \"\"\"",
            "    func `where`() {}\n\n    @Test(\"a b\") func a() {}",
        ])
    func keptRule(test: String) {
        #expect(Self.rules(Self.suite(test)) == [])
    }

    @Test("one sentence may stand in two suites, and not twice in one over its files")
    func severalFiles() {
        let test = "    @Test(\"a b\") func a() {}"
        #expect(Self.rules(Self.suite(test), Self.suite(test, named: "BTests")) == [])
        #expect(Self.rules(Self.suite(test), "extension ATests {\n\(test)\n}\n").count == 1)
        #expect(Self.rules("#if A\n    extension ATests {\n    \(test)\n    }\n#endif\n", Self.suite(test)).count == 1)
    }

    @Test("a suite has no name beside its type's, and may have traits")
    func suites() {
        #expect(Self.rules("@Suite(\"a b\") struct ATests {\n}\n").count == 1)
        #expect(Self.rules("@Suite(\n    \"a b\",\n    .serialized)\nstruct ATests {\n}\n").count == 1)
        #expect(Self.rules("@Suite(.disabled(\"a b\"))\nstruct ATests {\n}\n", Self.suite("")) == [])
    }
}
