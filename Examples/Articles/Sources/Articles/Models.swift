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
    /// A link: the category stays when the article goes, and the link is nil when the category goes.
    @Persisted var category: Category?
    /// Lives in the article, and goes with it.
    @Persisted var thumbnail: Thumbnail?
    /// The comments go with their article.
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
