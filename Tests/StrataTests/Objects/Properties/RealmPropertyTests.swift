import Foundation
import Strata
import Testing

@Suite struct RealmPropertyTests {
    final class Form: Object, Codable {
        var age = RealmOptional<Int>()
        let size = RealmProperty<Double?>()
        let isOpen = RealmProperty<Bool?>()
        var small = RealmProperty<Int8?>()
        @Persisted var name = ""
        enum CodingKeys: CodingKey { case age, size, isOpen, small }
    }
    final class Note: Object {
        let value = RealmProperty<AnyRealmValue>()
        @Persisted var id = 0
    }

    @Test("properties of the older form keep their values in the row")
    func olderFormInTheRow() throws {
        let realm = try makeRealm([Form.self, Note.self])
        let form = Form()
        let age = form.age
        #expect(age.value == nil && RealmOptional(5).value == 5)
        age.value = 30
        form.size.value = 1.5
        try realm.write { realm.add(form) }
        #expect(form.age.value == 30 && form.size.value == 1.5 && form.isOpen.value == nil && form.small.value == nil)
        try realm.write {
            age.value = 31
            form.isOpen.value = true
            form.size.value = nil
            form.small.value = -3
        }
        let read = try #require(realm.objects(Form.self).first)
        #expect(read.age.value == 31 && read.size.value == nil && read.isOpen.value == true && read.small.value == -3)
        #expect(read.age == form.age && "\(read.age)" == "Optional(31)" && read["age"] as? Int == 31)
        #expect(realm.objects(Form.self).filter("age == 31 AND isOpen == true").count == 1)
        let frozen = read.freeze()
        try realm.write { read.age.value = 1 }
        #expect(frozen.age.value == 31 && read.age.value == 1)
        realm.beginWrite()
        read.age.value = 7
        realm.cancelWrite()
        #expect(read.age.value == 1)
        try realm.write { realm.delete(read) }
        #expect(age.value == nil && frozen.age.value == 31)
    }

    @Test("properties of the older form take values from dictionaries, and hold any value")
    func olderFormFromValues() throws {
        let realm = try makeRealm([Form.self, Note.self])
        let form = Form(value: ["age": 4, "small": 5])
        #expect(form.age.value == 4 && form.small.value == 5)
        try realm.write {
            realm.create(Form.self, value: ["age": 9, "size": 2, "name": "made"])
            realm.create(Form.self, value: form)
            let note = realm.create(Note.self, value: ["value": "text"])
            #expect(note.value.value == .string("text"))
            note.value.value = .object(note)
        }
        let made = realm.objects(Form.self)
        #expect(made.map { $0.age.value } == [9, 4] && made[0].size.value == 2 && made[1].small.value == 5)
        #expect(realm.objects(Note.self).first?.value.value.object(Note.self)?.id == 0)
        #expect(realm.schema["Form"]?["age"]?.isOptional == true && _name(for: \Form.size) == "size")
        let copy = made[0].detached()
        #expect(copy.age.value == 9 && copy.realm == nil)
        let back = try JSONDecoder().decode(Form.self, from: JSONEncoder().encode(copy))
        #expect(back.age.value == 9 && back.isOpen.value == nil)
    }
}
