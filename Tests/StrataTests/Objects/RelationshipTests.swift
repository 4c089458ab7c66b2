import Foundation
import Strata
import Testing

/// One-to-one, one-to-many, many-to-many and their inverses, and cascading deletions.
@Suite struct RelationshipTests {
    final class Article: Object {
        @Persisted var title = ""
        @Persisted var body = ""
        @Persisted(deleteRule: .cascade) var thumbnail: Thumbnail?
        @Persisted(deleteRule: .cascade) var comments: List<Comment>
        @Persisted var categories: List<Category>
    }

    final class Thumbnail: Object {
        @Persisted var imageData = Data()
        @Persisted(originProperty: "thumbnail") var articles: LinkingObjects<Article>
        var article: Article? { articles.first }
    }

    final class Comment: Object {
        @Persisted var name = ""
        @Persisted var comment = ""
        @Persisted(originProperty: "comments") var articles: LinkingObjects<Article>
        var article: Article? { articles.first }
    }

    final class Category: Object {
        @Persisted var name = ""
        @Persisted(primaryKey: true) var key = ""
        @Persisted(originProperty: "categories") var articles: LinkingObjects<Article>
    }

    private func blog() throws -> Realm {
        let realm = try makeRealm([Article.self])
        try realm.write {
            let swift = realm.create(Category.self, value: ["name": "Swift", "key": "swift"])
            let data = realm.create(Category.self, value: ["name": "Databases", "key": "db"])
            for number in 0..<10 {
                let article = realm.create(Article.self, value: ["title": "Title \(number)", "body": "Body"])
                let thumbnail = realm.create(Thumbnail.self, value: ["imageData": Data([UInt8(number)])])
                article.thumbnail = thumbnail
                article.comments.append(realm.create(Comment.self, value: ["name": "Ann", "comment": "First"]))
                article.comments.append(Comment(value: ["name": "Ben", "comment": "Second"]))
                article.categories.append(swift)
                if number % 2 == 0 { article.categories.append(data) }
            }
        }
        return realm
    }

    @Test("relations and their inverses agree")
    func relationsAgree() throws {
        let realm = try blog()
        let article = try #require(realm.objects(Article.self).first)
        #expect(article.thumbnail?.imageData == Data([0]))
        #expect(article.thumbnail?.article == article)
        #expect(article.comments.map(\.name) == ["Ann", "Ben"])
        #expect(article.comments[1].article == article)
        #expect(realm.object(ofType: Category.self, forPrimaryKey: "swift")?.articles.count == 10)
        #expect(realm.object(ofType: Category.self, forPrimaryKey: "db")?.articles.count == 5)
    }

    @Test("deleting ten articles deletes their thumbnails and comments and leaves categories")
    func tenArticles() throws {
        let realm = try blog()
        #expect(realm.objects(Thumbnail.self).count == 10)
        #expect(realm.objects(Comment.self).count == 20)
        try realm.write { realm.delete(realm.objects(Article.self)) }
        #expect(realm.objects(Article.self).count == 0)
        #expect(realm.objects(Thumbnail.self).count == 0)
        #expect(realm.objects(Comment.self).count == 0)
        #expect(realm.objects(Category.self).count == 2)
        #expect(realm.objects(Category.self)[0].articles.isEmpty)
    }

    @Test("deleting one article deletes only its own")
    func oneArticle() throws {
        let realm = try blog()
        try realm.write { realm.delete(realm.objects(Article.self)[3]) }
        #expect(realm.objects(Thumbnail.self).count == 9)
        #expect(realm.objects(Comment.self).count == 18)
    }
}
