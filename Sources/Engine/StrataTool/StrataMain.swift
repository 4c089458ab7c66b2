import Commands
import Platform
import StrataStorage

@main
enum StrataMain {
    private static var program: Program {
        var program = Program(
            name: "strata", version: "0.1", summary: "looks into Strata's files, and repairs them",
            groups: [
                CommandGroup("Look", [InfoCommand(), DumpCommand()]),
                CommandGroup("Verify and repair", [CheckCommand(), SalvageCommand()]),
                CommandGroup("Copy and shrink", [CompactCommand(), CopyCommand()]),
                CommandGroup("Come from Core Data", [CoreDataCommand()]),
            ],
            exitStatus: "0 fine, 1 the operation failed, 2 damage found, 64 wrong arguments",
            failureStatus: "1 the operation failed, 64 wrong arguments")
        program.versionDetail = "file format \(Format.version)"
        program.explain = { error in
            guard
                let explained = error as? ToolError
                    ?? (error as? StorageError).map({ ToolError($0, path: "the store") })
            else { return nil }
            return Program.Failure(explained.message, status: explained.status)
        }
        return program
    }

    static func main() { exit(program.status(Array(CommandLine.arguments.dropFirst()))) }
}

extension OptionSpecification {
    static let json = OptionSpecification("--json", "one JSON object instead of text")
}
