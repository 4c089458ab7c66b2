/// The targets of Package.swift and what they depend on, read from its text: asking SwiftPM would start a second build
/// inside the test.
///
/// Reads the forms that the manifest uses: `room("Name", [..])`, `benchmark`, `tests`, `library`, `.target(name: ..)`
/// and `.executableTarget(name: ..)`. In the arguments, after paths, settings and conditions are dropped, the first
/// string is the target's name and the others are its dependencies.
struct PackageManifest {
    struct Target: Equatable {
        enum Kind: String, Equatable { case room, benchmark, tests, library, target, executableTarget }
        let kind: Kind
        let name: String
        let dependencies: [String]
        /// From the root of the package.
        let path: String
        /// For a system library.
        var pkgConfig: String?
        var debianPackage: String?
    }

    let targets: [Target]
    let traits: [String]

    init(_ text: String) {
        let source = SwiftSource(text).withoutComments
        traits = source.matches(of: /\.trait\(\s*name:\s*"(\w+)"/).map { String($0.output.1) }
        guard let start = source.range(of: "\n    targets: [")?.upperBound else {
            targets = []
            return
        }
        targets = source[start...]
            .matches(of: /(?m)^ {8}(\.?)(room|benchmark|tests|library|target|executableTarget)\(/)
            .compactMap { match in
                let arguments = Self.balanced(source[match.range.upperBound...])
                return Target.Kind(rawValue: String(match.output.2)).map { Self.target($0, arguments) } ?? nil
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
        let pkgConfig = arguments.firstMatch(of: /pkgConfig:\s*"([^"]*)"/).map { String($0.output.1) }
        let apt = arguments.firstMatch(of: /apt:\s*"([^"]*)"/).map { String($0.output.1) }
        let bare =
            arguments
            .replacing(/(?:path|pkgConfig|apt):\s*"[^"]*"/, with: "")
            .replacing(/condition:\s*\.when\([^)]*\)/, with: "")
            .replacing(/[cC]\w*Settings:\s*\[[^\]]*\]/, with: "")
            .replacing(/linkerSettings:\s*\[[^\]]*\]/, with: "")
        let strings = bare.matches(of: /"(\w+)"/).map { String($0.output.1) }
        guard let name = strings.first else { return nil }
        let folder =
            switch kind {
            case .benchmark: "Benchmarks"
            case .tests: "Tests"
            default: "Sources"
            }
        return Target(
            kind: kind, name: name, dependencies: Array(strings.dropFirst()), path: path ?? "\(folder)/\(name)",
            pkgConfig: pkgConfig, debianPackage: apt)
    }

    func target(holding path: String) -> Target? {
        targets.first { path.hasPrefix($0.path + "/") }
    }
}
