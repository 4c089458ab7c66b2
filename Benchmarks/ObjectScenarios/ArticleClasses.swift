import Strata

/// Classes with every kind of relationship: an article owns its thumbnail and comments, and shares categories.
final class Article: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var title = ""
    @Persisted(deleteRule: .cascade) var thumbnail: Thumbnail?
    @Persisted(deleteRule: .cascade) var comments: List<Comment>
    @Persisted var categories: List<Category>
    @Persisted(deleteRule: .cascadeIfLast) var sources: List<Source>
    @Persisted(deleteRule: .deny) var licence: Licence?
    @Persisted(originProperty: "related") var relatedBy: LinkingObjects<Article>
    @Persisted var related: List<Article>
}

final class Thumbnail: Object {
    @Persisted var url = ""
    @Persisted(originProperty: "thumbnail") var articles: LinkingObjects<Article>
}

final class Comment: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text = ""
    @Persisted(originProperty: "comments") var articles: LinkingObjects<Article>
}

final class Category: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted(originProperty: "categories") var articles: LinkingObjects<Article>
}

final class Source: Object {
    @Persisted var name = ""
}

final class Licence: Object {
    @Persisted var name = ""
}

enum ArticleClasses {
    static let all: [ObjectBase.Type] = [
        Article.self, Thumbnail.self, Comment.self, Category.self, Source.self, Licence.self,
    ]

    /// `count` articles, each with a thumbnail, a comment and both categories.
    static func fill(_ realm: Realm, count: Int = 10) throws {
        try realm.write {
            let categories = ["swift", "databases"].map { name in
                let category = Category()
                category.name = name
                return category
            }
            for id in 0..<count {
                let article = Article()
                article.id = id
                article.title = "article \(id)"
                article.thumbnail = Thumbnail(value: ["url": "thumbnail \(id)"])
                let comment = Comment()
                comment.id = id
                comment.text = "comment \(id)"
                article.comments.append(comment)
                article.categories.append(objectsIn: categories)
                realm.add(article, update: .modified)
            }
        }
    }

    static func counts(_ realm: Realm) -> [Int] {
        [
            realm.objects(Article.self).count, realm.objects(Thumbnail.self).count, realm.objects(Comment.self).count,
            realm.objects(Category.self).count,
        ]
    }
}
