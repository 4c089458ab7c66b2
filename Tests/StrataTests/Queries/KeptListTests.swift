import Testing

@testable import Strata

/// `while let item = list.filter("isOpen == true").first { item.isOpen = false }` once scanned the whole list in each
/// turn, since results of a list were never kept, and new results started over.
@Suite struct KeptListTests {
    final class Task: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var isOpen = true
        @Persisted var rank = 0
        @Persisted var name = ""
    }
    final class Project: Object {
        @Persisted(primaryKey: true) var id = 0
        @Persisted var tasks: List<Task>
        @Persisted var pool: MutableSet<Task>
    }

    private func project(_ count: Int) throws -> (Realm, Project) {
        let realm = try makeRealm([Task.self, Project.self])
        let project = try realm.write {
            let project = realm.create(Project.self, value: [1])
            for id in (0..<count).reversed() {
                let task = realm.create(Task.self, value: ["id": id, "rank": id % 7])
                project.tasks.append(task)
                project.pool.insert(task)
            }
            return project
        }
        return (realm, project)
    }

    private func isKept<Element>(_ results: Results<Element>) -> Bool { results.source.keptKeys() != nil }

    @Test("new results continue with the matches of the previous ones")
    func continuedMatches() throws {
        let (realm, project) = try project(50)
        try realm.write {
            var seen: [Int] = []
            while let task = project.tasks.filter("isOpen == true").first {
                #expect(isKept(project.tasks.filter("isOpen == true")))
                seen.append(task.id)
                if task.id % 3 == 0 { realm.delete(task) } else { task.isOpen = false }
                #expect(isKept(project.tasks.filter("isOpen == true")), "\(task.isInvalidated)")
            }
            #expect(seen == Array((0..<50).reversed()))
            while let task = project.pool.where({ !$0.isOpen }).first {
                task.isOpen = true
                #expect(isKept(project.pool.where { !$0.isOpen }))
            }
            while let task = realm.objects(Task.self).filter("isOpen == true").sorted(byKeyPath: "rank").first {
                task.isOpen = false
                #expect(isKept(realm.objects(Task.self).filter("isOpen == true").sorted(byKeyPath: "rank")))
            }
            #expect(realm.objects(Task.self).count == 33)
            // Other queries do not share these matches.
            #expect(
                project.tasks.filter("isOpen == false").count == 33 && project.tasks.filter("isOpen == true").isEmpty)
        }
    }

    @Test("inserted and moved elements are found in order")
    func insertedAndMoved() throws {
        let (realm, project) = try project(20)
        try realm.write {
            let open = project.tasks.filter("isOpen == true")
            func check(_ moment: String) {
                let expected = project.tasks.filter { $0.isOpen }.map(\.id)
                #expect(
                    open.map(\.id) == expected && project.tasks.filter("isOpen == true").map(\.id) == expected,
                    "\(moment)")
                #expect(
                    project.tasks.filter("isOpen == true").sorted(byKeyPath: "rank").map(\.id)
                        == project.tasks.sorted(byKeyPath: "rank").filter { $0.isOpen }.map(\.id), "\(moment)")
            }
            check("begin")
            project.tasks[3].isOpen = false
            check("left")
            project.tasks[3].isOpen = true
            check("back")
            project.tasks.append(project.tasks[5])
            check("twice")
            project.tasks[5].isOpen = false
            check("both left")
            project.tasks[4].rank = 6
            check("moved")
            let id = project.tasks[0].id
            realm.delete(project.tasks[0])
            realm.create(Task.self, value: ["id": id])
            check("made again, outside of the list")
            project.tasks.insert(realm.create(Task.self, value: ["id": 100]), at: 0)
            check("inserted")
            project.tasks.move(from: 0, to: 7)
            check("moved in the list")
            realm.delete(project)
            #expect(open.isEmpty)
        }
    }

    @Test("two spellings of a text are two queries")
    func twoSpellings() throws {
        let (realm, project) = try project(2)
        try realm.write {
            project.tasks[0].name = "caf\u{e9}"
            project.tasks[1].name = "cafe\u{301}"
            #expect(project.tasks.filter("name == 'caf\u{e9}'").map(\.id) == [1])
            #expect(project.tasks.filter("name == 'cafe\u{301}'").map(\.id) == [0])
        }
    }

    @Test("a write dropped with its Realm ends, whatever was queried in it")
    func droppedWrite() throws {
        let file = TemporaryFile()
        do {
            let realm = try Realm(configuration: file.configuration([Task.self, Project.self]))
            realm.beginWrite()
            let project = realm.create(Project.self, value: [1])
            project.tasks.append(realm.create(Task.self, value: [1]))
            #expect(project.tasks.filter("isOpen == true AND SELF == %@", project.tasks[0]).first != nil)
            #expect(project.tasks.filter("isOpen == true").first != nil)
        }
        let realm = try Realm(configuration: file.configuration([Task.self, Project.self]))
        try realm.write { #expect(realm.objects(Project.self).isEmpty) }
    }
}
