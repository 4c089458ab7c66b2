import Foundation
import Strata

final class Category: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted(originProperty: "category") var articles: LinkingObjects<Article>
}

final class Article: Object {
    @Persisted(primaryKey: true) var id: Int
    /// The default is what a careless read shows after the article was deleted.
    @Persisted var title = "(deleted)"
    @Persisted(indexed: true) var published = Date(timeIntervalSince1970: 0)
    /// A link: deleting the article keeps the category, and deleting the category makes the link nil.
    @Persisted var category: Category?
    /// Embedded in the article, and deleted with it.
    @Persisted var thumbnail: Thumbnail?
    /// The comments are deleted with their article.
    @Persisted(deleteRule: .cascade) var comments: List<Comment>
}

final class Thumbnail: EmbeddedObject {
    /// A grey value for each column.
    @Persisted var pixels = Data()
}

final class Comment: Object {
    @Persisted var author = ""
    @Persisted var text = ""
}

enum Schema {
    static let classes: [ObjectBase.Type] = [Category.self, Article.self, Thumbnail.self, Comment.self]
}
