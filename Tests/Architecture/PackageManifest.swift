/// The targets of Package.swift and what they depend on, parsed from its text, since running SwiftPM would start a
/// second build inside the test.
///
/// Reads the forms that the manifest uses: `room("Name", in: "Part", [..])`, `benchmark`, `engine`, `tests`, `library`,
/// `.target(name: ..)` and `.executableTarget(name: ..)`; `everyEngine` stands for all engines. In the arguments, after
/// paths, settings and conditions are dropped, the first string is the target's name, the others are its dependencies.
struct PackageManifest {
    struct Target: Equatable {
        enum Kind: String, Equatable { case room, benchmark, engine, tests, library, target, executableTarget }
        let kind: Kind
        let name: String
        var dependencies: [String]
        /// From the root of the package.
        let path: String
        /// For a system library.
        var pkgConfig: String?
        var debianPackage: String?
        var dependsOnEveryEngine = false
    }

    let targets: [Target]
    let traits: [String]

    init(_ text: String) {
        let source = SwiftSource(text).withoutComments
        traits = source.matches(of: /\.trait\(\s*name:\s*"(\w+)"/).map { String($0.output.1) }
        guard let list = source.range(of: "\nlet engines: [Target] = [")?.upperBound,
            let listEnd = source[list...].range(of: "\n]")?.lowerBound,
            let start = source.range(of: "\n    targets: engines + [")?.upperBound
        else {
            targets = []
            return
        }
        // Only top-level entries of the list; nested strings are dependencies.
        let read =
            Self.targets(source[list..<listEnd], /(?m)^ {4}\.?(engine)\(/)
            + Self.targets(
                source[start...], /(?m)^ {8}\.?(room|benchmark|tests|library|target|executableTarget)\(/)
        let engines = read.filter { $0.kind == .engine }.map(\.name)
        targets = read.map { target in
            var target = target
            if target.dependsOnEveryEngine { target.dependencies += engines }
            return target
        }
    }

    private static func targets(_ text: Substring, _ heads: Regex<(Substring, Substring)>) -> [Target] {
        text.matches(of: heads).compactMap { match in
            let arguments = balanced(text[match.range.upperBound...])
            return Target.Kind(rawValue: String(match.output.1)).flatMap { target($0, arguments) }
        }
    }

    /// The text up to the parenthesis that closes the one before it.
    private static func balanced(_ text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[..<index] }
        }
        return text
    }

    private static func target(_ kind: Target.Kind, _ arguments: Substring) -> Target? {
        let path = arguments.firstMatch(of: /path:\s*"([^"]*)"/).map { String($0.output.1) }
        let part = arguments.firstMatch(of: /\bin:\s*"(\w+)"/).map { String($0.output.1) }
        let pkgConfig = arguments.firstMatch(of: /pkgConfig:\s*"([^"]*)"/).map { String($0.output.1) }
        let apt = arguments.firstMatch(of: /apt:\s*"([^"]*)"/).map { String($0.output.1) }
        let bare =
            arguments
            .replacing(/(?:\bin|path|pkgConfig|apt):\s*"[^"]*"/, with: "")
            .replacing(/condition:\s*\.when\([^)]*\)/, with: "")
            .replacing(/[cC]\w*Settings:\s*\[[^\]]*\]/, with: "")
            .replacing(/linkerSettings:\s*\[[^\]]*\]/, with: "")
        let strings = bare.matches(of: /"(\w+)"/).map { String($0.output.1) }
        guard let name = strings.first else { return nil }
        let folder =
            switch kind {
            case .benchmark, .engine: "Benchmarks"
            case .tests: "Tests"
            default: "Sources" + (part.map { "/\($0)" } ?? "")
            }
        return Target(
            kind: kind, name: name, dependencies: Array(strings.dropFirst()), path: path ?? "\(folder)/\(name)",
            pkgConfig: pkgConfig, debianPackage: apt, dependsOnEveryEngine: bare.contains("everyEngine"))
    }

    func target(holding path: String) -> Target? {
        targets.first { path.hasPrefix($0.path + "/") }
    }
}
