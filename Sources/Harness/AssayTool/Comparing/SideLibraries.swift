import Commands
import Harness

/// The engine libraries of `assay ab`: one for both sides, or a build of the same engine for each side.
enum SideLibraries {
    static let suffix = "-engine-library"

    /// - Parameter side: `--a` or `--b`.
    static func files(_ arguments: Arguments, side: String) -> [String] {
        arguments.all(EngineLibraries.option) + arguments.all(side + suffix)
    }

    static func registries(_ arguments: Arguments) throws -> (a: Registries, b: Registries) {
        let common = try EngineLibraries.registries(arguments)
        var sides: [Registries] = []
        for side in ["--a", "--b"] {
            var registries = common
            try EngineLibraries.add(
                arguments.all(side + suffix), to: &registries, option: side + suffix, command: arguments.command)
            sides.append(registries)
        }
        let names = sides.map { $0.engines.engines.filter { $0.file != nil }.map(\.name).sorted() }
        guard names[0] == names[1] else {
            let texts = names.map { $0.isEmpty ? "none" : $0.joined(separator: ", ") }
            throw UsageError(
                "--a\(suffix) has \(texts[0]), and --b\(suffix) has \(texts[1]): name two builds of one engine, whose "
                    + "member name says the same", command: arguments.command)
        }
        return (sides[0], sides[1])
    }
}
