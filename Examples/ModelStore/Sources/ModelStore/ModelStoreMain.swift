import Foundation
import StoreMigration

/// Moves from a store of Core Data to Strata in four phases, in each of which writers write and are killed. Ends with 1
/// if the stores differ at the end of a phase.
@main
enum ModelStoreMain {
    private static let usage = """
        usage: ModelStore [--kills N] [STORE [--leave-out ENTITY.PROPERTY]...]

        Makes a store of Core Data's shape, or takes a copy of STORE, and leaves it: both stores written, the new one
        read, the old one retired. In each phase writers are killed.
          --kills N       writers killed in each phase; 5 if not given
          --leave-out P   a property that the adapter does not write
        """

    static func main() throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--help"] { return print(usage) }
        var kills = 5
        var leavingOut: Set<String> = []
        func option(_ name: String) -> String? {
            guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else { return nil }
            defer { arguments.removeSubrange(place...place + 1) }
            return arguments[place + 1]
        }
        while let name = option("--leave-out") { leavingOut.insert(name) }
        if let child = option("--child"), let seed = arguments.first.flatMap({ Int($0) }) {
            // A writer: the parent process kills it.
            try Stores(URL(fileURLWithPath: child), leavingOut: leavingOut).write(seed: seed) {
                FileHandle.standardOutput.write(Data(".".utf8))
            }
            return
        }
        if let word = option("--kills") {
            guard let count = Int(word), (0...1_000).contains(count) else { return refuse() }
            kills = count
        }
        guard arguments.count <= 1, arguments.first?.hasPrefix("-") != true else { return refuse() }
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("modelstore-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let result = Result {
            try Journey(directory, of: arguments.first, kills: kills, leavingOut: leavingOut).go()
        }
        try FileManager.default.removeItem(at: directory)
        switch result {
        case .success(let problems):
            for problem in problems { say("error: \(problem)") }
            if !problems.isEmpty { exit(1) }
        case .failure(let error):
            say("error: \(error)")
            exit(1)
        }
    }

    private static func refuse() {
        say(usage)
        exit(64)
    }

    private static func say(_ words: String) { FileHandle.standardError.write(Data((words + "\n").utf8)) }
}
