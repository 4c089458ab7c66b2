import Foundation
import Strata
import Testing

/// The behaviour of every public member on deleted objects, under both policies.
@Suite struct GoneAccessTests {
    /// Types whose values may be deleted or invalid, and their protocols.
    private static let types: Set<String> = [
        "AnyRealmCollection", "CollectionElementMapper", "DynamicObject", "Frozen", "LinkingObjects", "List", "Map",
        "MutableSet", "ObjectBase", "ObjectKeyIdentifiable", "ProjectedCollection", "Projection",
        "ProjectionObservable", "Realm", "RealmCollection", "RealmProperty", "Results", "ResultsSection",
        "ResultsSnapshot", "SectionedResults", "Slice", "ThreadSafe", "ThreadSafeReference", "_PlacedCollection",
    ]

    /// Members of a Realm without an argument that may be deleted.
    private static let others: Set<String> = [
        "Realm.acknowledgeDamage()", "Realm.asyncRefresh(isolation:)", "Realm.asyncWrite(isolation:_:)",
        "Realm.beginAsyncWrite(_:)",
        "Realm.cancelAsyncWrite(_:)", "Realm.cancelWrite()", "Realm.damage", "Realm.commitAsyncWrite(allowGrouping:_:)",
        "Realm.isPerformingAsynchronousWriteOperations", "Realm.writeCopy(configuration:)",
        "Realm.verify(progress:)", "Realm.writeCopy(toFile:encryptionKey:)",
    ]

    @Test("exactly the public members of types that may be deleted are called here")
    @MainActor func members() throws {
        let members = try PublicMembers.all(of: Self.types)
        let called = Set(GoneCalls.all.calls.keys)
        #expect(
            members.subtracting(called).subtracting(Self.others).sorted() == [],
            "new members, or members with another number of forms: add a call to GoneCalls")
        #expect(called.union(Self.others).subtracting(members).sorted() == [], "calls of members that are not there")
        #expect(members.count > 250)
    }

    @Test("under substitute no member ends the process; under trap each ends it with its report")
    func policies() async throws {
        // A trapping child would first resolve the names of all functions of this program, for seconds.
        setenv("SWIFT_BACKTRACE", "enable=no", 1)
        var reporting: [String: GoneRun.Reporting] = [:]
        try await withThrowingTaskGroup(of: [GoneRun.Reporting].self) { group in
            for kind in GoneKind.allCases { group.addTask { try await Self.substituted(kind) } }
            for try await found in group {
                for call in found where reporting[call.member] == nil { reporting[call.member] = call }
            }
        }
        #expect(reporting.count > 100, "so few members report that something is gone")
        // Each call is a process that loads all tests of this program: some seconds of a core, minutes in total.
        let isWhole = ProcessInfo.processInfo.environment["GONE_TRAPS"] == "all"
        let members = reporting.values.sorted { $0.member < $1.member }
        let waiting = Locked(members.indices.filter { isWhole || $0 % 6 == 0 }.map { members[$0] })
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { while let next = waiting.with({ $0.popLast() }) { await Self.expectTrap(next) } }
            }
        }
    }

    private static func substituted(_ kind: GoneKind) async throws -> [GoneRun.Reporting] {
        let output = TemporaryFile()
        let path = output.url.path
        await #expect(processExitsWith: .success) { [kind, path = path as String] in
            GoneRun.write(to: path)
            try await GoneRun.all(kind)
        }
        let lines = GoneRun.lines(output)
        if !lines.contains(GoneRun.end) { Issue.record("\(kind) ends with: \(GoneRun.ending(lines))") }
        let reports = lines.compactMap { try? JSONDecoder().decode(GoneRun.Reporting.self, from: Data($0.utf8)) }
        for report in reports where !GoneRun.texts.contains(where: report.message.contains) {
            Issue.record("\(report.member), \(kind): '\(report.message)' is none of Realm's words")
        }
        return reports
    }

    private static func expectTrap(_ call: GoneRun.Reporting) async {
        let output = TemporaryFile()
        let path = output.url.path
        await #expect(processExitsWith: .failure) { [call, path = path as String] in
            GoneRun.write(to: path)
            try await GoneRun.trap(call)
            GoneRun.note(GoneRun.end)
        }
        let text = GoneRun.ending(GoneRun.lines(output))
        #expect(
            text.contains("Fatal error: ") && GoneRun.texts.contains(where: text.contains),
            "\(call.member), \(call.kind): \(text)")
    }
}
