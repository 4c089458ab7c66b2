/// JUnit XML in the subset that CI systems agree on.
struct JUnitDocument {
    /// How a test ended; `type` is a category of one word.
    enum Ending {
        case passed(note: String)
        case failure(type: String, message: String)
        case error(type: String, message: String)
        case skipped(type: String, message: String)
    }

    struct Test {
        var group: String
        var name: String
        var seconds = 0.0
        var ending: Ending
    }

    struct Suite {
        var name: String
        var tests: [Test] = []
    }

    var name: String
    /// As `Figure.time` writes it.
    var timestamp: String
    var suites: [Suite]
    /// Properties that every suite gets.
    var properties: [(String, String)]

    var text: String {
        var markup = Markup(isXML: true)
        markup.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        let tests = suites.flatMap(\.tests)
        let counts = Counts(tests)
        markup.element(
            "testsuites",
            [
                "name": name, "tests": "\(tests.count)", "failures": "\(counts.failures)",
                "errors": "\(counts.errors)", "skipped": "\(counts.skipped)", "time": Self.seconds(tests),
                "timestamp": timestamp,
            ]
        ) { markup in
            markup.raw("\n")
            for suite in suites { write(suite, &markup) }
        }
        return markup.text + "\n"
    }

    private struct Counts {
        var (failures, errors, skipped) = (0, 0, 0)

        init(_ tests: [Test]) {
            for test in tests {
                switch test.ending {
                case .passed: break
                case .failure: failures += 1
                case .error: errors += 1
                case .skipped: skipped += 1
                }
            }
        }
    }

    private static func seconds(_ tests: [Test]) -> String {
        Figure.exact((tests.reduce(0) { $0 + $1.seconds } * 1_000).rounded() / 1_000)
    }

    private func write(_ suite: Suite, _ markup: inout Markup) {
        let counts = Counts(suite.tests)
        markup.element(
            "testsuite",
            [
                "name": suite.name, "tests": "\(suite.tests.count)", "failures": "\(counts.failures)",
                "errors": "\(counts.errors)", "skipped": "\(counts.skipped)", "time": Self.seconds(suite.tests),
                "timestamp": timestamp,
            ]
        ) { markup in
            markup.element("properties") { markup in
                for (name, value) in properties {
                    markup.element("property", ["name": name, "value": value], "")
                }
            }
            markup.raw("\n")
            for test in suite.tests { Self.write(test, &markup) }
        }
        markup.raw("\n")
    }

    private static func write(_ test: Test, _ markup: inout Markup) {
        markup.element("testcase", ["classname": test.group, "name": test.name, "time": seconds([test])]) { markup in
            switch test.ending {
            case .passed(let note): if !note.isEmpty { markup.element("system-out", note) }
            case .failure(let type, let message):
                markup.element("failure", ["message": message, "type": type], message)
            case .error(let type, let message): markup.element("error", ["message": message, "type": type], message)
            case .skipped(let type, let message): markup.element("skipped", ["message": message, "type": type], "")
            }
        }
        markup.raw("\n")
    }
}
