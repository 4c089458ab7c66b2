import Foundation

/// The files of this checkout that the rules check, without build products and output of runs.
struct Checkout {
    struct File: Sendable {
        /// From the root of the checkout, with forward slashes.
        let path: String
        let text: String

        var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }
        var isSwift: Bool { path.hasSuffix(".swift") }
    }

    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All handwritten files: sources, tests, tools, documents. Read once.
    static let files: [File] = {
        let places = ["Sources", "Benchmarks", "Tests", "Examples", "Tools", "docs", ".ci"]
        let single = ["Package.swift", "Makefile", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        let found = places.flatMap(walk) + single
        return found.sorted().compactMap { path in
            guard let data = FileManager.default.contents(atPath: root.appendingPathComponent(path).path),
                let text = String(data: data, encoding: .utf8)
            else { return nil }
            return File(path: path, text: text)
        }
    }()

    static let swiftFiles: [(file: File, source: SwiftSource)] = files.filter(\.isSwift).map {
        ($0, SwiftSource($0.text))
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The folder of the target that a file belongs to: in Sources the third component of a path is the target.
    static func room(of path: String) -> String {
        path.split(separator: "/").prefix(path.hasPrefix("Sources/") ? 3 : 2).joined(separator: "/")
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path)
    }

    private static func walk(_ folder: String) -> [String] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
        else { return [] }
        return names.flatMap { name -> [String] in
            guard name != ".build", name != ".swiftpm", name != "Package.resolved" else { return [] }
            let path = "\(folder)/\(name)"
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: root.appendingPathComponent(path).path, isDirectory: &isFolder)
            else { return [] }
            return isFolder.boolValue ? walk(path) : [path]
        }
    }
}

/// A rule that a file breaks: `Sources/Engine/Strata/Realm.swift:12: try! ...`.
struct Violation: Hashable, CustomStringConvertible {
    var path: String
    var line: Int?
    var rule: String

    var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(rule)" }
}
