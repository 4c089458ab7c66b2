import Foundation
import Strata

/// One picture of the table, made from a snapshot, so that concurrent commits do not tear it.
struct Frame: Equatable {
    struct Row: Equatable {
        var id: Int
        var title: String
        var category: String
        var thumbnail: String
        var comments: Int
        var lastComment: String
    }

    var rows: [Row]

    init(_ articles: ResultsSnapshot<Article>) {
        rows = articles.map { article in
            let last = article.comments.last
            return Row(
                id: article.id, title: article.title, category: article.category?.name ?? "",
                thumbnail: Self.bars(article.thumbnail?.pixels ?? Data()), comments: article.comments.count,
                lastComment: last.map { "\($0.author): \($0.text)" } ?? "")
        }
    }

    private static func bars(_ pixels: Data) -> String {
        let bars = Array("▁▂▃▄▅▆▇█")
        return String(pixels.map { bars[Int($0) / 32] })
    }

    /// At most `limit` rows, below a header.
    func lines(limit: Int) -> [String] {
        var lines = [Self.line("id", "title", "category", "picture", "comments", "last comment")]
        for row in rows.prefix(limit) {
            lines.append(
                Self.line("\(row.id)", row.title, row.category, row.thumbnail, "\(row.comments)", row.lastComment))
        }
        if rows.count > limit { lines.append("  .. \(rows.count - limit) more") }
        return lines
    }

    private static func line(_ cells: String...) -> String {
        zip(cells, [5, 36, 12, 10, 10, 24]).map { cell, width in
            let text = String(cell.prefix(width - 1))
            return text + String(repeating: " ", count: width - text.count)
        }.joined()
    }
}
