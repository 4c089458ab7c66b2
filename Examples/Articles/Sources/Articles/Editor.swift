import Foundation
import Strata
import Synchronization

/// Adds, edits and deletes articles on a thread of its own until its time is over, with a Realm of its own.
final class Editor: Sendable {
    /// The result of the edits.
    struct Outcome: Sendable {
        var commits = 0
        var error: String?
    }

    private let outcome = Mutex<Outcome?>(nil)

    /// nil while the thread works.
    var end: Outcome? { outcome.withLock { $0 } }

    func start(_ configuration: Realm.Configuration, seconds: Double) {
        Thread { [self] in
            var result = Outcome()
            do {
                let realm = try Realm(configuration: configuration)
                let deadline = Date().addingTimeInterval(seconds)
                while Date() < deadline {
                    try realm.write { try change(realm, number: result.commits) }
                    result.commits += 1
                    Thread.sleep(forTimeInterval: 0.04)
                }
            } catch {
                result.error = "\(error)"
            }
            outcome.withLock { $0 = result }
        }.start()
    }

    private func change(_ realm: Realm, number: Int) throws {
        let articles = realm.objects(Article.self)
        let some = articles.isEmpty ? nil : articles[(number * 7) % articles.count]
        switch number % 6 {
        case 0, 3: realm.add(Self.article(100 + number, in: realm))
        case 1: some?.comments.append(Self.comment(number))
        case 2: some?.title = "\(Self.titles[number % Self.titles.count]), edition \(number)"
        case 4: some?.thumbnail = Self.thumbnail(number)
        // Deletes the oldest article; its thumbnail and comments are deleted with it.
        default:
            if let oldest = articles.sorted(by: \.published).first, articles.count > 4 { realm.delete(oldest) }
        }
    }

    // MARK: Contents

    private static let titles = [
        "Pages and segments", "A log that survives", "Snapshots for readers", "Keys, not indices",
        "What a checksum finds", "Lists that follow", "The end of an object", "Queues and threads",
    ]
    private static let categories = ["Storage", "Objects", "Interfaces"]
    private static let authors = ["Ada", "Grace", "Edsger", "Barbara"]

    static func article(_ id: Int, in realm: Realm) -> Article {
        let article = Article()
        article.id = id
        article.title = titles[id % titles.count]
        article.published = Date(timeIntervalSince1970: Double(id) * 3_600)
        article.category = realm.create(
            Category.self, value: ["name": categories[id % categories.count]], update: .modified)
        article.thumbnail = thumbnail(id)
        for number in 0..<id % 3 { article.comments.append(comment(id + number)) }
        return article
    }

    private static func comment(_ number: Int) -> Comment {
        let comment = Comment()
        comment.author = authors[number % authors.count]
        comment.text = "remark \(number)"
        return comment
    }

    private static func thumbnail(_ number: Int) -> Thumbnail {
        let thumbnail = Thumbnail()
        thumbnail.pixels = Data((0..<8).map { UInt8(truncatingIfNeeded: (number + 3) * ($0 + 5) * 29) })
        return thumbnail
    }
}
