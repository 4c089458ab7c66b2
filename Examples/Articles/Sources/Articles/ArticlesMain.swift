import Foundation
import Strata
import Synchronization

/// A table of articles follows a database while another thread writes to it. Ends by itself, with 1 if the last frame
/// differs from the database.
@main
enum ArticlesMain {
    private static let usage = """
        usage: Articles [--seconds N]

        Shows a table of articles that follows a database while another thread adds, edits and deletes.
          --seconds N   how long the other thread works; 5 if not given
        """

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--help"] { return print(usage) }
        guard let seconds = seconds(arguments) else {
            FileHandle.standardError.write(Data((usage + "\n").utf8))
            exit(64)
        }
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("articles-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let problems = Result { try run(in: directory, seconds: seconds) }
        try FileManager.default.removeItem(at: directory)
        for problem in try problems.get() {
            FileHandle.standardError.write(Data("error: \(problem)\n".utf8))
        }
        if try !problems.get().isEmpty { exit(1) }
    }

    private static func seconds(_ arguments: [String]) -> Double? {
        if arguments.isEmpty { return 5 }
        guard arguments.count == 2, arguments[0] == "--seconds", let seconds = Double(arguments[1]),
            (0...3_600).contains(seconds)
        else { return nil }
        return seconds
    }

    /// - Returns: what was wrong at the end; empty if the last frame is right.
    private static func run(in directory: URL, seconds: Double) throws -> [String] {
        let careless = Counter()
        // Reading a deleted object gives the property's default and a report. `.trap` would end the program here.
        let configuration = Realm.Configuration(
            fileURL: directory.appendingPathComponent("articles.strata"), objectTypes: Schema.classes,
            invalidAccess: .substitute, invalidAccessHandler: { _ in careless.increment() })
        let realm = try Realm(configuration: configuration)
        let favourite = try realm.write {
            for id in 0..<8 { realm.add(Editor.article(id, in: realm)) }
            return realm.object(ofType: Article.self, forPrimaryKey: 0)
        }
        guard let favourite else { return ["the first article is not there"] }

        let screen = Screen(realm, favourite: favourite)
        screen.start()
        let editor = Editor()
        editor.start(configuration, seconds: seconds)
        // The other thread's commits are delivered when the main queue runs.
        while editor.end == nil { _ = RunLoop.main.run(mode: .default, before: Date().addingTimeInterval(0.05)) }
        realm.refresh()
        screen.stop()
        guard let end = editor.end else { return [] }
        return report(end, screen, try Realm(configuration: configuration), careless: careless.value)
    }

    /// Compares the last frame with a new read of the database.
    private static func report(_ end: Editor.Outcome, _ screen: Screen, _ realm: Realm, careless: Int) -> [String] {
        let articles = realm.objects(Article.self)
        let now = Frame(articles.sorted(by: \.published, ascending: false).snapshot())
        let comments = realm.objects(Comment.self).count
        screen.write((["", "the last frame:"] + screen.frame.lines(limit: .max)).joined(separator: "\n") + "\n")
        print("\(end.commits) commits of the other thread, redrawn \(screen.redraws) times")
        print("\(careless) reads of the deleted favourite, each answered with the default")
        var problems = [end.error, screen.problem].compactMap { $0 }
        if now != screen.frame { problems.append("the last frame is not what the database holds") }
        if comments != articles.reduce(0, { $0 + $1.comments.count }) {
            problems.append("comments without an article")
        }
        if problems.isEmpty {
            print("the last frame equals the database: \(articles.count) articles, \(comments) comments, none orphaned")
        }
        return problems
    }
}

/// A counter for any thread.
private final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func increment() { count.add(1, ordering: .relaxed) }
}
