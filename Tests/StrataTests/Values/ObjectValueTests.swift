import Foundation
import Strata
import Testing

/// Objects from values and back: create, updates, copies, encoding.
@Suite struct ObjectValueTests {
    final class Leaf: EmbeddedObject, Codable { @Persisted var name = "" }
    final class Tree: Object, Codable {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var name = "unnamed"
        @Persisted var height: Double?
        @Persisted var born: Date
        @Persisted var token: UUID?
        @Persisted var leaf: Leaf?
        @Persisted var leaves: List<Leaf>
        @Persisted var next: Tree?
        @Persisted var friends: List<Tree>
        @Persisted var tags: MutableSet<String>
        @Persisted var counts: Map<String, Int>
        @Persisted var named: Map<String, Tree?>
        @Persisted(deleteRule: .cascade) var bag: MutableSet<Note>

        enum CodingKeys: String, CodingKey {
            case id, name, height, born, token, leaf, leaves, next, friends, tags, counts
        }
    }

    private func open() throws -> Realm { try makeRealm([Tree.self]) }

    @Test("objects are created from dictionaries, arrays and other objects of any depth")
    func createdFromAnything() throws {
        let realm = try open()
        let tree = try realm.write {
            realm.create(
                Tree.self,
                value: [
                    "id": 1, "height": 2, "leaf": ["name": "l"], "leaves": [["name": "a"], ["b"]],
                    "next": ["id": 2, "name": "two"], "friends": [["id": 2], ["id": 3]], "tags": ["x", "y", "x"],
                    "counts": ["a": 1], "named": ["two": ["id": 2], "none": Tree?.none as Any],
                ], update: .modified)
        }
        #expect(tree.name == "unnamed" && tree.height == 2 && tree.leaf?.name == "l")
        #expect(tree.leaves.map(\.name) == ["a", "b"] && tree.friends.map(\.id) == [2, 3])
        #expect(tree.next == tree.friends[0] && tree.next?.name == "two" && tree.named["two"] == tree.next)
        #expect(tree.named["none"] == .some(nil) && Array(tree.tags) == ["x", "y"] && tree.counts["a"] == 1)
        let other = try realm.write { realm.create(Tree.self, value: [9, "nine"]) }
        #expect(other.id == 9 && other.name == "nine")
        let copy = try realm.write { realm.create(Tree.self, value: tree, update: .all) }
        #expect(copy == tree && tree.leaf?.name == "l" && tree.leaves.count == 2)
        try realm.store.checkInvariants()
    }

    @Test("an update keeps unnamed properties, and writes only differences if requested")
    func updateKeepsUnnamed() throws {
        let realm = try open()
        try realm.write {
            realm.create(Tree.self, value: ["id": 1, "name": "one", "leaf": ["name": "l"], "tags": ["x"], "height": 1])
        }
        let tree = realm.objects(Tree.self)[0]
        var changed: [[String]] = []
        let token = tree.observe { change in
            if case .change(_, let properties) = change { changed.append(properties.map(\.name).sorted()) }
        }
        try realm.write {
            realm.create(
                Tree.self, value: ["id": 1, "name": "one", "tags": ["x"], "height": 2.0], update: .modified)
        }
        #expect(changed == [["height"]])
        try realm.write { realm.create(Tree.self, value: ["id": 1, "name": "one"], update: .modified) }
        #expect(changed == [["height"]])
        let same = Tree(value: ["id": 1, "name": "one", "leaf": ["name": "other"], "tags": ["x"], "height": 2.0])
        let leaf = try #require(tree.leaf)
        same.born = tree.born
        try realm.write { realm.add(same, update: .modified) }
        #expect(changed == [["height"]] && leaf.name == "other" && same == tree)
        token.invalidate()
        #expect(tree.height == 2 && tree.name == "one" && Array(tree.tags) == ["x"])
        #expect(realm.dynamicObjects("Leaf").count == 1)
    }

    @Test("an update of a cyclic object graph finds all objects")
    func cyclicUpdate() throws {
        let realm = try open()
        func circle(_ name: String) -> Tree {
            let (a, b) = (Tree(value: ["id": 1, "name": name]), Tree(value: ["id": 2, "name": name]))
            a.next = b
            b.next = a
            a.friends.append(objectsIn: [a, b, a])
            b.named["back"] = a
            return a
        }
        for name in ["new", "old", "older"] {
            try realm.write { realm.add(circle(name), update: name == "old" ? .all : .modified) }
            let trees = realm.objects(Tree.self)
            #expect(trees.count == 2 && trees.allSatisfy { $0.name == name })
            #expect(trees[0].friends.map(\.id) == [1, 2, 1] && trees[0].next?.next == trees[0])
            #expect(trees[1].named["back"] == trees[0])
        }
        try realm.write {
            let a = Tree(value: ["id": 3])
            let known = Tree(value: ["id": 1, "name": "known"])
            a.next = known
            known.next = a
            known.friends.append(a)
            realm.add(a, update: .modified)
        }
        let known = try #require(realm.object(ofType: Tree.self, forPrimaryKey: 1))
        #expect(known.next?.id == 3 && known.friends.map(\.id) == [3] && known.next?.next == known)
        try realm.store.checkInvariants()
    }

    @Test("an invalid value is an error that names class, property, expected and actual type")
    func invalidValue() throws {
        let realm = try open()
        func refused(_ value: [String: Any], _ parts: [String]) {
            do {
                try realm.write { _ = realm.create(Tree.self, value: value) }
                Issue.record("took \(value)")
            } catch let error as Realm.Error {
                #expect(error.code == .invalidInput)
                for part in parts { #expect(error.message.contains(part), "\(error.message)") }
            } catch { Issue.record(error) }
        }
        refused(["id": 1, "name": 5], ["'Tree.name'", "string", "Int 5"])
        refused(["id": "x"], ["'Tree.id'", "int", "String x"])
        refused(["id": 1, "name": String?.none as Any], ["'Tree.name'", "got nil"])
        refused(["id": 1, "tags": 7], ["'Tree.tags'", "a set of string", "Int 7"])
        refused(["id": 1, "counts": [1]], ["'Tree.counts'", "a map of String to int"])
        refused(["id": 1, "friends": [Note("n")]], ["'Tree.friends'", "a list of Tree", "Note"])
        refused(["id": 1, "leaf": 5], ["Leaf", "Int 5"])
        #expect(realm.objects(Tree.self).isEmpty)
        #expect(throws: Realm.Error.self) { try Tree(checking: ["name": 5]) }
        #expect(throws: Realm.Error.self) { try Tree(checking: ["other": 5]) }
        #expect(try Tree(checking: ["name": "fine"]).name == "fine")
    }

    @Test("JSON becomes objects, with dates, data and identifiers in JSON's forms")
    func createdFromJSON() throws {
        let realm = try open()
        let id = UUID()
        let json = """
            {"id": 5, "name": "j", "height": 1.5, "born": "2020-01-02T03:04:05Z", "token": "\(id)",
             "leaf": {"name": "l"}, "friends": [{"id": 6}, {"id": 7, "height": null}], "counts": {"a": 1, "b": 2}}
            """
        let tree = try realm.write { try realm.create(Tree.self, json: Data(json.utf8)) }
        #expect(tree.name == "j" && tree.height == 1.5 && tree.token == id && tree.leaf?.name == "l")
        #expect(tree.born == Date(timeIntervalSince1970: 1_577_934_245) && tree.friends.map(\.id) == [6, 7])
        #expect(tree.counts["b"] == 2)
        let list = #"[{"id": 5, "name": "k"}, {"id": 8}]"#
        let all = try realm.write { try realm.createAll(Tree.self, json: Data(list.utf8), update: .modified) }
        #expect(all.map(\.id) == [5, 8] && tree.name == "k" && tree.height == 1.5)
        #expect(throws: Realm.Error.self) { try realm.write { try realm.create(Tree.self, json: Data("[1".utf8)) } }
        let parsed = try JSONSerialization.jsonObject(with: Data(#"{"id": 12, "height": null, "tags": ["q"]}"#.utf8))
        let made = try realm.write { realm.create(Tree.self, value: parsed) }
        #expect(made.id == 12 && made.height == nil && Array(made.tags) == ["q"])
    }

    @Test("a detached copy is deep, independent, and keeps cycles")
    func detachedCopy() throws {
        let realm = try open()
        let tree = Tree(value: ["id": 1, "name": "one", "leaf": ["name": "l"], "tags": ["x"], "counts": ["a": 1]])
        tree.next = Tree(value: ["id": 2])
        tree.next?.next = tree
        tree.friends.append(objectsIn: [tree, Tree(value: ["id": 3])])
        tree.named["self"] = tree
        try realm.write { realm.add(tree) }
        let copy = tree.detached()
        #expect(copy.realm == nil && copy.leaf?.realm == nil && copy.name == "one" && copy.leaf?.name == "l")
        #expect(copy.next?.next === copy && copy.friends[0] === copy && copy.friends[1].id == 3)
        #expect(copy.named["self"] == copy && Array(copy.tags) == ["x"] && copy.counts["a"] == 1)
        try realm.write {
            tree.name = "changed"
            realm.delete(tree)
        }
        #expect(copy.name == "one")
        let other = try open()
        try other.write { other.add(copy) }
        #expect(other.objects(Tree.self).count == 3 && copy.detached().next?.next?.id == 1)
    }

    @Test("a long chain is added, copied, described and deleted without taking stack for it")
    func longChain() throws {
        final class Link: Object {
            @Persisted(deleteRule: .cascade) var next: Link?
        }
        let realm = try makeRealm([Link.self])
        let first = try realm.write { () -> Link in
            var last: Link?
            for _ in 0..<5_000 {
                let link = Link()
                link.next = last
                realm.add(link)
                last = link
            }
            return try #require(last)
        }
        #expect(first.description.contains("next = Link"))
        let copy = first.detached()
        #expect(copy.next?.next != nil)
        try realm.write { realm.delete(first) }
        #expect(realm.objects(Link.self).isEmpty)
    }

    @Test("classes that are Codable go to JSON and come back")
    func codableClasses() throws {
        let json = """
            {"id": 4, "name": "c", "born": 0, "leaf": {"name": "l"}, "leaves": [{"name": "a"}], "tags": ["x"],
             "friends": [{"id": 5, "name": "f", "born": 1}], "counts": {"n": 3}}
            """
        let tree = try JSONDecoder().decode(Tree.self, from: Data(json.utf8))
        #expect(tree.leaf?.name == "l" && tree.friends.first?.name == "f" && tree.height == nil)
        let realm = try open()
        try realm.write { realm.add(tree) }
        #expect(realm.objects(Tree.self).count == 2 && tree.counts["n"] == 3 && Array(tree.tags) == ["x"])
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(tree) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(realm.objects(Tree.self)[0]) }
        let back = try JSONDecoder().decode(Tree.self, from: JSONEncoder().encode(tree.detached()))
        #expect(back.id == 4 && back.friends.map(\.id) == [5] && back.leaves.map(\.name) == ["a"])
        #expect(back.counts["n"] == 3 && Array(back.tags) == ["x"])
        let all = try JSONDecoder().decode([Tree].self, from: JSONEncoder().encode(realm.objects(Tree.self)))
        #expect(all.map(\.id) == [4, 5])
        let friends = try JSONDecoder().decode(List<Tree>.self, from: JSONEncoder().encode(tree.friends))
        #expect(friends.map(\.name) == ["f"])
    }

    @Test("objects know their class, their properties by name, and what they print")
    func selfDescription() throws {
        let realm = try open()
        let tree = Tree(value: ["id": 1, "name": "one", "leaf": ["name": "l"]])
        tree.next = tree
        #expect(tree.objectSchema["name"]?.type == .string && tree.objectSchema.primaryKeyProperty?.name == "id")
        #expect(tree.description.contains("name = one") && tree.description.contains("next = Tree {\n\t\tid = 1;"))
        try realm.write { realm.add(tree) }
        #expect(tree.objectSchema.className == "Tree" && tree.objectSchema["leaves"]?.isArray == true)
        #expect(tree.objectSchema["tags"]?.isSet == true && tree.objectSchema["counts"]?.isMap == true)
        #expect(tree.description.contains("next = Tree {\n\t\tid = 1;") && tree.description.contains("name = l"))
        #expect(tree["name"] as? String == "one" && (tree["leaf"] as? Leaf)?["name"] as? String == "l")
        try realm.write {
            tree["name"] = "set"
            tree["leaf"] = nil
        }
        #expect(tree.name == "set" && tree.leaf == nil && tree.isSameObject(as: realm.objects(Tree.self)[0]))
        #expect(!tree.isSameObject(as: Tree()) && !tree.isSameObject(as: nil))
    }

    @Test("every kind of collection can be deleted, and everything at once")
    func deletedCollections() throws {
        let realm = try open()
        func fill() throws -> Tree {
            try realm.write {
                realm.deleteAll()
                let tree = Tree(value: ["id": 1, "leaves": [["name": "a"]]])
                tree.friends.append(objectsIn: [Tree(value: ["id": 2]), Tree(value: ["id": 3])])
                tree.named["x"] = Tree(value: ["id": 4])
                tree.bag.insert(Note("n"))
                realm.add(tree)
                return tree
            }
        }
        var tree = try fill()
        try realm.write { realm.delete(tree.friends) }
        #expect(realm.objects(Tree.self).map(\.id) == [1, 4] && tree.friends.isEmpty)
        try realm.write { realm.delete(tree.named) }
        #expect(realm.objects(Tree.self).map(\.id) == [1])
        tree = try fill()
        try realm.write { realm.delete(realm.objects(Tree.self).where { $0.id > 2 }) }
        #expect(realm.objects(Tree.self).map(\.id) == [1, 2])
        try realm.write { realm.delete(Array(realm.objects(Tree.self))) }
        #expect(realm.objects(Tree.self).isEmpty && realm.objects(Note.self).isEmpty)
        #expect(realm.dynamicObjects("Leaf").isEmpty)
        tree = try fill()
        try realm.write { realm.delete(realm.objects(Tree.self)) }
        #expect(realm.dynamicObjects("Leaf").isEmpty && realm.objects(Note.self).isEmpty)
        tree = try fill()
        try realm.write { realm.deleteAll() }
        #expect(realm.isEmpty && tree.isInvalidated)
        try realm.store.checkInvariants()
    }

    @Test("objects of classes known only by name are created, read and deleted")
    func knownOnlyByName() throws {
        let realm = try open()
        try realm.write {
            let made = realm.dynamicCreate("Tree", value: ["id": 1, "name": "d", "tags": ["x"], "leaf": ["name": "l"]])
            made["counts"] = ["a": 1]
            made["friends"] = [["id": 2]]
        }
        let tree = try #require(realm.dynamicObject(ofType: "Tree", forPrimaryKey: 1))
        #expect(tree["name"] as? String == "d" && (tree["tags"] as? MutableSet<String>).map(Array.init) == ["x"])
        #expect((tree["counts"] as? Map<String, Int>)?["a"] == 1)
        #expect((tree["friends"] as? List<DynamicObject>)?.first?["id"] as? Int == 2)
        #expect(
            realm.dynamicObjects("Tree").count == 2 && realm.object(ofType: Tree.self, forPrimaryKey: 1)?.leaf != nil)
        #expect(throws: Realm.Error.self) { try realm.write { realm.dynamicCreate("Leaf") } }
        try realm.write { realm.delete(tree) }
        #expect(realm.dynamicObjects("Leaf").isEmpty && realm.objects(Tree.self).count == 1)
    }
}
