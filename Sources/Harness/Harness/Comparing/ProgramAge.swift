import Files

/// Compares the time of a built program with those of its sources.
///
/// A control that was built from an older engine than the harness measures another engine: a change of the engine would
/// show as a fault of the harness.
package enum ProgramAge {
    /// The rooms that a program with the engine Strata is built from, relative to the checkout.
    private static let engine = [
        "Sources/Engine/Strata", "Sources/Engine/StrataRepair", "Sources/Engine/StrataStorage",
        "Sources/Engine/StrataFiles", "Sources/Engine/StrataCrypto", "Sources/Engine/CStrataShim",
        "Sources/Engine/CXXHash", "Sources/Ground/Platform",
    ]

    /// The sources of a control program, relative to the checkout.
    static func sources(ofControl name: String) -> [String] {
        let controls = "Benchmarks/Controls"
        if name == "control-strata" { return ["\(controls)/Strata/Sources"] + engine }
        let program = name.split(separator: "-").last.map(String.init) ?? name
        return ["\(program).c", "control.c", "control.h", "packed.h"].map { "\(controls)/\($0)" }
    }

    /// A source that was changed after the program was built; nil if there is none.
    /// - Parameters:
    ///   - sources: files and directories, relative to `checkout`. What is missing there is not compared.
    ///   - checkout: the directory of the project.
    /// - Complexity: O(files below `sources`).
    static func newerSource(of program: String, among sources: [String], checkout: String) throws -> String? {
        let built = try FileTree.changeTime(program)
        for source in sources {
            if let newer = try newest(checkout, source, after: built) { return newer }
        }
        return nil
    }

    private static func newest(_ checkout: String, _ source: String, after time: Int) throws -> String? {
        let path = "\(checkout)/\(source)"
        switch FileTree.kind(path) {
        case .directory:
            for name in try FileTree.names(in: path) {
                if let newer = try newest(checkout, "\(source)/\(name)", after: time) { return newer }
            }
            return nil
        case .file: return try FileTree.changeTime(path) > time ? source : nil
        case .link, .other, nil: return nil
        }
    }

    /// A message for each program that is older than a source; the harness itself is compared with the engine alone.
    /// - Parameters:
    ///   - controls: paths of built control programs, whose last components are their names.
    ///   - assay: the program of the harness, if it measures the engine that is built into it.
    package static func complaints(controls: [String], assay: String?, checkout: String) throws -> [String] {
        var complaints: [String] = []
        for program in controls {
            let name = program.split(separator: "/").last.map(String.init) ?? program
            if let newer = try newerSource(of: program, among: sources(ofControl: name), checkout: checkout) {
                complaints.append("\(name) is older than \(newer)\nremedy: make controls")
            }
        }
        if let assay, let newer = try newerSource(of: assay, among: engine, checkout: checkout) {
            complaints.append("this program is older than \(newer)\nremedy: make build")
        }
        return complaints
    }
}
