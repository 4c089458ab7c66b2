import Foundation
import Strata
import Testing

@Suite struct SchemaTests {
    final class Shelf: Object {
        @Persisted(primaryKey: true) var code = ""
        @Persisted(indexed: true) var row = 0
        @Persisted var label: String?
        @Persisted var books: List<Volume>
        @Persisted var spare: Volume?
        @Persisted var notes: Map<String, Int?>
        @Persisted(originProperty: "shelf") var owners: LinkingObjects<Volume>
        override class func propertiesMapping() -> [String: String] { ["row": "row_number", "label": "_label"] }
    }
    final class Volume: Object {
        @Persisted var shelf: Shelf?
        @Persisted var cover: Cover?
    }
    final class Cover: EmbeddedObject { @Persisted var color = "" }

    @Test("a schema has the program's property names, and their names in the file")
    func bothNames() throws {
        let realm = try makeRealm([Shelf.self])
        let schema = try #require(realm.schema["Shelf"])
        #expect(schema.properties.map(\.name) == ["code", "row", "label", "books", "spare", "notes"])
        #expect(schema.properties.map(\.columnName) == ["code", "row_number", "_label", "books", "spare", "notes"])
        #expect(schema.objectClass == Shelf.self && schema.primaryKeyProperty?.name == "code" && !schema.isEmbedded)
        #expect(schema["row"]?.isIndexed == true && schema["row_number"] == nil && schema["label"]?.isOptional == true)
        #expect(schema["label"]?.isIndexed == false && schema["row"]?.isOptional == false)
        #expect(schema["spare"]?.objectClassName == "Volume" && schema["code"]?.objectClassName == nil)
        #expect(realm.schema["Cover"]?.isEmbedded == true && realm.schema["None"] == nil)
        let shelf = Shelf()
        #expect(shelf.objectSchema == schema)
        try realm.write { realm.add(shelf) }
        #expect(shelf.objectSchema == schema && shelf.objectSchema.properties.map(\.name).count == 6)
    }

    @Test("schemas, classes and properties with equal contents are equal")
    func equalContents() throws {
        let (realm, other) = (try makeRealm([Shelf.self]), try makeRealm([Shelf.self]))
        #expect(realm.schema == other.schema && realm.schema["Shelf"] == other.schema["Shelf"])
        #expect(realm.schema["Shelf"] != realm.schema["Volume"])
        #expect(realm.schema["Shelf"]?["row"] == other.schema["Shelf"]?["row"])
        #expect(realm.schema["Shelf"]?["row"] != realm.schema["Shelf"]?["code"])
        #expect(try makeRealm([Cover.self]).schema != realm.schema)
    }

    @Test("schemas print what each property is")
    func printedSchemas() throws {
        let realm = try makeRealm([Shelf.self])
        let row = try #require(realm.schema["Shelf"]?["row"])
        #expect(
            row.description
                == """
                row {
                \ttype = int;
                \tcolumnName = row_number;
                \tindexed = YES;
                \tisPrimary = NO;
                \tarray = NO;
                \tset = NO;
                \tdictionary = NO;
                \toptional = NO;
                }
                """)
        let cover = try #require(realm.schema["Cover"])
        #expect(cover.description.hasPrefix("Cover (embedded) {\n\tcolor {\n\t\ttype = string;\n"))
        let text = realm.schema.description
        #expect(text.hasPrefix("Schema {\n\tCover (embedded) {\n\t\tcolor {\n") && text.hasSuffix("}\n\t}\n}"))
        #expect(text.contains("objectClassName = Volume;\n\t\t\tlinkOriginPropertyName = shelf;"))
        #expect(text.contains("objectClassName = Volume;\n\t\t\tlinkOriginPropertyName = (null);"))
    }
}
