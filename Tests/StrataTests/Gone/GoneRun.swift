import Foundation
import Strata

/// Makes the calls of ``GoneCalls`` in a process of their own, and writes down what each reported.
@MainActor
enum GoneRun {
    /// What a report of an access to what is gone says, in Realm's words.
    nonisolated static let texts = [
        "Object has been deleted or invalidated", "is out of bounds (must be less than",
        "has been invalidated: ", "a number must not be negative", "has been replaced or deleted",
    ]

    /// A call that reported, and the first report of it.
    struct Reporting: Codable, Hashable, Sendable {
        let member: String
        let place: Int
        let kind: GoneKind
        let message: String
    }

    /// Makes every call on things that went in one way. The name of each is written first, so that what ends the
    /// process is known.
    static func all(_ kind: GoneKind) async throws {
        for (member, calls) in GoneCalls.all.calls.sorted(by: { $0.key < $1.key }) {
            for (place, call) in calls.enumerated() {
                note("\(member) \(place)")
                let reports = Locked<[String]>([])
                let world = try GoneWorld(kind, .substitute) { report in reports.with { $0.append(report.message) } }
                reports.with { $0.removeAll() }
                try await call(world)
                guard let message = reports.current.first else { continue }
                let reporting = Reporting(member: member, place: place, kind: kind, message: message)
                note(String(decoding: try JSONEncoder().encode(reporting), as: UTF8.self))
            }
        }
        note(end)
    }

    /// The last line of a process that nothing ended.
    nonisolated static let end = "done"

    /// Has everything that the process says go to a file: what ends it says why there.
    nonisolated static func write(to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        dup2(file, STDERR_FILENO)
        close(file)
        // The runtime's own answer to what ends a process takes seconds, and says where it was.
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV] { signal(number, SIG_DFL) }
    }

    /// What a process said to a file; the testing library adds bytes of its own.
    nonisolated static func lines(_ file: TemporaryFile) -> [String] {
        let data = FileManager.default.contents(atPath: file.url.path) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// What is worth reading of that where a process ended: its last call, and why it ended.
    nonisolated static func ending(_ lines: [String]) -> String {
        let reason = lines.firstIndex { $0.contains("error: ") } ?? lines.count
        return lines[max(0, reason - 2)..<min(reason + 1, lines.count)].joined(separator: "; ")
    }

    nonisolated static func note(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }

    /// Makes one call under the policy that ends the process with what is reported.
    static func trap(_ reporting: Reporting) async throws {
        let calls = GoneCalls.all.calls[reporting.member] ?? []
        let world = try GoneWorld(reporting.kind, .trap) { _ in }
        try await calls[reporting.place](world)
    }
}
