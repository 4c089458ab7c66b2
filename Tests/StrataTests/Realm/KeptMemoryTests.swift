import Foundation
import Strata
import Testing

/// A fixture in memory made in a test's `setUp` was gone in the test, since no autorelease pool kept its Realm.
@Suite struct KeptMemoryTests {
    private static let configuration = Realm.Configuration(inMemoryIdentifier: "kept", objectTypes: [Note.self])

    private static func setUp() throws {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Note("from setUp")) }
    }

    private static func expect(_ count: Int, _ line: Int = #line) throws {
        let found = try Realm(configuration: configuration).objects(Note.self).count
        if found != count { fatalError("line \(line): \(found) notes, not \(count)") }
    }

    /// In its own process, since the switch is process-wide.
    @Test("a Realm in memory ends with its last instance, or, on request, only when it is ended")
    func kept() async {
        await #expect(processExitsWith: .success) { try Self.steps() }
    }

    private static func steps() throws {
        if Realm.Configuration.keepsInMemoryRealms { fatalError("kept by default") }
        try setUp()
        try expect(0)

        Realm.Configuration.keepsInMemoryRealms = true
        try setUp()
        try expect(1)
        try expect(1)

        // A living instance stays usable, and keeps its data.
        do {
            let realm = try Realm(configuration: configuration)
            Realm.endInMemoryRealms()
            if realm.objects(Note.self).count != 1 { fatalError("ended under an instance") }
        }
        try expect(0)

        try setUp()
        if try Realm.deleteFiles(for: configuration) { fatalError("memory has no file") }
        try expect(0)

        try setUp()
        Realm.Configuration.keepsInMemoryRealms = false
        try expect(1)
        Realm.endInMemoryRealms()
        try expect(0)
    }
}
