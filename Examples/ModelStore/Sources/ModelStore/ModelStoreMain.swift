import Foundation
import StoreMigration
import Strata
import Synchronization

/// Leaves a store of Core Data in four phases, while writers write and are killed. Ends with 1 where the stores differ
/// at the end of a phase.
@main
enum ModelStoreMain {
    private static let usage = """
        usage: ModelStore [--kills N] [STORE NEW.strata]

        Makes a store of Core Data's shape and leaves it: both stores written, the new one read, the old one retired.
        Writers are killed in each phase.
          --kills N           how many in each phase; 5 if not given
          STORE NEW.strata    compares and writes a real store and the file that
                              "strata coredata import STORE --to NEW.strata" made of it, instead
        """

    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--help"] { return print(usage) }
        if arguments.count == 3, arguments[0] == "--child", let seed = Int(arguments[2]) {
            try Stores(URL(fileURLWithPath: arguments[1])).writeUntilKilled(seed: seed)
        }
        var kills = 5
        if arguments.count >= 2, arguments[0] == "--kills", let count = Int(arguments[1]), (0...1_000).contains(count) {
            kills = count
            arguments.removeFirst(2)
        }
        guard arguments.isEmpty || arguments.count == 2 else {
            FileHandle.standardError.write(Data((usage + "\n").utf8))
            exit(64)
        }
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("modelstore-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let journey = Journey(directory, kills: kills, real: arguments.isEmpty ? nil : (arguments[0], arguments[1]))
        let problems = Result { try journey.go() }
        try FileManager.default.removeItem(at: directory)
        for problem in try problems.get() { FileHandle.standardError.write(Data("error: \(problem)\n".utf8)) }
        if try !problems.get().isEmpty { exit(1) }
    }
}
