import Foundation
import Strata

/// Makes the calls of ``GoneCalls`` in their own process, and records the report of each.
@MainActor
enum GoneRun {
    /// The messages of reports about accesses to deleted objects.
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

    /// Makes every call on objects that were deleted in one way. The name of each is written first, so that a call that
    /// ends the process is known.
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

    /// The last line of a process that completed.
    nonisolated static let end = "done"

    /// Redirects the process's output to a file, which then has the message of a crash.
    nonisolated static func write(to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        dup2(file, STDERR_FILENO)
        close(file)
        // The runtime's backtracer takes seconds, and is not needed.
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGSEGV] { signal(number, SIG_DFL) }
    }

    /// The output of a process in a file; the testing library adds bytes of its own.
    nonisolated static func lines(_ file: TemporaryFile) -> [String] {
        let data = FileManager.default.contents(atPath: file.url.path) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// The relevant part of the output of a crashed process: its last call, and the message.
    nonisolated static func ending(_ lines: [String]) -> String {
        let reason = lines.firstIndex { $0.contains("error: ") } ?? lines.count
        return lines[max(0, reason - 2)..<min(reason + 1, lines.count)].joined(separator: "; ")
    }

    nonisolated static func note(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }

    /// Makes one call under the policy that ends the process with the report.
    static func trap(_ reporting: Reporting) async throws {
        let calls = GoneCalls.all.calls[reporting.member] ?? []
        let world = try GoneWorld(reporting.kind, .trap) { _ in }
        try await calls[reporting.place](world)
    }
}
