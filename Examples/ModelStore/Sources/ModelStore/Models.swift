import Foundation
import StoreMigration
import Strata

/// The key is that of Core Data's row; `changed` decides which of two records is newer.
final class Note: Object {
    @Persisted(primaryKey: true) var coreDataKey = 0
    @Persisted var title = ""
    @Persisted var stars: Int?
    @Persisted var changed = 0
    @Persisted var parentNote: Note?
}

enum Models {
    static let note = RecordModel(
        "Note", key: "coreDataKey", hasIntegerKey: true,
        [
            RecordField("title", .text), RecordField("stars", .integer, isOptional: true),
            RecordField("changed", .integer), RecordField("parentNote", .link(to: "Note")),
        ])
}
