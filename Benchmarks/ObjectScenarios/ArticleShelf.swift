import Strata

/// The expected content of a database of articles: every object of every class, its values and its backlinks.
struct ArticleShelf {
    struct Entry {
        var title: String
        var thumbnail: String?
        var comments: [Int] = []
        var categories: [String] = []
        var sources: [String] = []
        var licence: String?
        var related: [Int] = []
    }

    var articles: [Int: Entry] = [:]
    var thumbnails: [String] = []
    var comments: [Int: String] = [:]
    var categories: [String] = []
    var sources: [String] = []
    var licences: [String] = []

    /// As `ArticleClasses.fill` leaves it.
    init(count: Int) {
        categories = ["swift", "databases"]
        for id in 0..<count {
            articles[id] = Entry(
                title: "article \(id)", thumbnail: "thumbnail \(id)", comments: [id], categories: categories)
            thumbnails.append("thumbnail \(id)")
            comments[id] = "comment \(id)"
        }
    }

    /// Deletes an article by the delete rules of its class: its thumbnail and its comments, and the sources that no
    /// other article owns.
    mutating func delete(_ id: Int) {
        guard let gone = articles.removeValue(forKey: id) else { return }
        thumbnails.removeAll { $0 == gone.thumbnail }
        for comment in gone.comments { comments[comment] = nil }
        for other in articles.keys {
            articles[other]?.comments.removeAll { gone.comments.contains($0) }
            articles[other]?.related.removeAll { $0 == id }
        }
        sources.removeAll { name in
            gone.sources.contains(name) && !articles.values.contains { $0.sources.contains(name) }
        }
    }

    /// A line for each object, sorted.
    var lines: [String] {
        func owners(_ leads: (Entry) -> [Bool]) -> [Int] {
            articles.flatMap { id, entry in leads(entry).filter { $0 }.map { _ in id } }.sorted()
        }
        var lines = articles.map { id, entry in
            Self.line(id, entry, relatedBy: owners { $0.related.map { $0 == id } })
        }
        lines += thumbnails.map { url in Self.line("thumbnail", url, owners { [$0.thumbnail == url] }) }
        lines += comments.map { id, text in
            Self.line("comment \(id)", text, owners { $0.comments.map { $0 == id } })
        }
        lines += categories.map { name in Self.line("category", name, owners { $0.categories.map { $0 == name } }) }
        lines += sources.map { "source \($0)" } + licences.map { "licence \($0)" }
        return lines.sorted()
    }

    /// The lines of a database.
    static func lines(_ realm: Realm) -> [String] {
        var lines = realm.objects(Article.self).map { article in
            line(
                article.id,
                Entry(
                    title: article.title, thumbnail: article.thumbnail?.url, comments: article.comments.map(\.id),
                    categories: article.categories.map(\.name), sources: article.sources.map(\.name),
                    licence: article.licence?.name, related: article.related.map(\.id)),
                relatedBy: article.relatedBy.map(\.id).sorted())
        }
        lines += realm.objects(Thumbnail.self).map { line("thumbnail", $0.url, $0.articles.map(\.id).sorted()) }
        lines += realm.objects(Comment.self).map { line("comment \($0.id)", $0.text, $0.articles.map(\.id).sorted()) }
        lines += realm.objects(Category.self).map { line("category", $0.name, $0.articles.map(\.id).sorted()) }
        lines += realm.objects(Source.self).map { "source \($0.name)" }
        lines += realm.objects(Licence.self).map { "licence \($0.name)" }
        return lines.sorted()
    }

    /// Compares the whole content of a database with this one.
    func compare(_ realm: Realm) -> PolicyTrials.Finding { .same("contents", Self.lines(realm), lines) }

    private static func line(_ id: Int, _ entry: Entry, relatedBy: [Int]) -> String {
        "article \(id) \(entry.title), \(entry.thumbnail ?? "no thumbnail"), comments \(entry.comments), "
            + "categories \(entry.categories), sources \(entry.sources), \(entry.licence ?? "no licence"), "
            + "related \(entry.related), related by \(relatedBy)"
    }

    private static func line(_ kind: String, _ text: String, _ owners: [Int]) -> String {
        "\(kind) \(text), of articles \(owners)"
    }
}
