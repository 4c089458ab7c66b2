import Foundation
import Strata
import StrataFiles
import Synchronization
import Testing

/// The platform's files, reported as those of another machine.
private struct ServedFileSystem: FileSystemLayer {
    let base = POSIXFileSystem()
    func servedKind(of path: String) -> String? { "NFS" }
}

/// Reports of an open about its file; neither is an error, and nothing is lost yet.
@Suite struct OpenReportsTests {
    final class Note: Object {
        @Persisted(primaryKey: true) var id = 0
    }

    private final class Told: Sendable {
        let reports = Mutex<[String]>([])
        var texts: [String] { reports.withLock { $0 } }
        func hear(_ report: Realm.Configuration.Report) { reports.withLock { $0.append("\(report)") } }
    }

    private func configuration(_ file: TemporaryFile, _ told: Told) -> Realm.Configuration {
        var configuration = file.configuration([Note.self])
        configuration.report = { told.hear($0) }
        return configuration
    }

    @Test("a file on another machine is opened, and the report names the risk and the remedy") func served()
        throws
    {
        let file = TemporaryFile()
        let told = Told()
        var configuration = configuration(file, told)
        configuration.files = ServedFileSystem()
        do {
            let realm = try Realm(configuration: configuration)
            try realm.write { realm.add(Note(value: ["id": 1])) }
            let again = try Realm(configuration: configuration)
            #expect(again.objects(Note.self).count == 1)
        }
        #expect(told.texts.count == 1)
        for word in ["NFS", "sync", "local disk", ".trusted"] { #expect(told.texts.first?.contains(word) == true) }
        configuration.fileSystem = .trusted
        #expect(try Realm(configuration: configuration).objects(Note.self).count == 1)
        #expect(told.texts.count == 1)
        configuration.fileSystem = .checked
        configuration.files = nil
        #expect(try Realm(configuration: configuration).objects(Note.self).count == 1)
        #expect(told.texts.count == 1, "the disk of this machine")
    }

    @Test("an empty file becomes a new database, which is reported once") func empty() throws {
        let file = TemporaryFile()
        let told = Told()
        #expect(FileManager.default.createFile(atPath: file.url.path, contents: Data()))
        for round in 0..<2 {
            let realm = try Realm(configuration: configuration(file, told))
            try realm.write { realm.add(Note(value: ["id": round])) }
        }
        #expect(try Realm(configuration: configuration(file, told)).objects(Note.self).count == 2)
        #expect(told.texts.count == 1 && told.texts.first?.contains("put a copy back") == true)
    }
}
