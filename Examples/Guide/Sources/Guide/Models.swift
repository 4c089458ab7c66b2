import Foundation
import Strata

final class Book: Object {
    @Persisted(primaryKey: true) var isbn: String
    @Persisted(indexed: true) var title = "(no title)"
    @Persisted var pages = 0
    @Persisted var finished: Date?
    @Persisted var tags: MutableSet<String>
    @Persisted var ratings: Map<String, Int>
    @Persisted var cover: Cover?
    @Persisted var authors: List<Author>
    @Persisted(deleteRule: .cascade) var notes: List<Note>
}

final class Cover: EmbeddedObject {
    @Persisted var image = Data()
}

final class Author: Object {
    @Persisted(primaryKey: true) var name: String
    @Persisted(originProperty: "authors") var books: LinkingObjects<Book>
}

final class Note: Object {
    @Persisted var page = 0
    @Persisted var text = ""
    @Persisted var kind = NoteKind.remark
}

enum NoteKind: String, PersistableEnum {
    case remark, question, quotation
}
