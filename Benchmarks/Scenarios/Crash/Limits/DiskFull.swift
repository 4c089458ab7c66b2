import CaseFiles
import Files
import Harness
import RunRecords
import Seeds

/// Plays a script with large rows on a small file system of its own, which has less free space in each trial than the
/// script needs. At the end space is freed, and the same process continues.
///
/// An error is allowed while the disk is full, and acknowledged commits stay; the session that met the full disk must
/// still read. After space was freed a transaction must succeed, in that session or in a new one of the same process.
/// Another process judges the content.
struct DiskFull: FaultedScenario {
    let slug = "disk-full"
    let question = "Is nothing lost on a disk that is full, and does the next write work once there is room?"
    let parameters =
        ScriptDraw.parameters(operations: 16, keys: 24) + [
            ScenarioParameter(
                "trials", .effort, default: 12, range: 1...1_000, summary: "amounts of room that are left"),
            ScenarioParameter(
                "least", .condition, default: 0, range: 0...1_000_000, summary: "the least amount, in KiB"),
            ScenarioParameter(
                "filesystem", default: "ext4", allowed: SmallFileSystem.Kind.allCases.map(\.rawValue),
                summary: "the file system that is full: the trial makes one, and mounts it for itself alone"),
        ]

    /// Keys of the transactions that are kept until space is freed; no other operation uses them.
    private static let firstSpareKey = 1 << 19

    /// The drawn operations with rows of up to 30 KB, and two more for the time after space was freed.
    static func operations(of test: Case) -> [ScriptOperation] {
        var random = RandomStream(test.seed.derived("rows"))
        let operations = ScriptDraw.everyAction(of: test).map { operation in
            guard operation.action == "insert" else { return operation }
            var operation = operation
            operation.arguments[3] += 1_000 + random.below(24_000)
            return operation
        }
        return operations
            + (0..<2).map {
                ScriptOperation(
                    label: "room-\($0)", action: "insert", arguments: [Self.firstSpareKey + $0, 1, 7, 3_000])
            }
    }

    /// Amounts of free space in KiB, below what the script needs: none, even steps, and the need halved again and
    /// again, since some engines need more space than they write. Each is at least `least`.
    static func rooms(need: Int, count: Int, least: Int = 0) -> [Int] {
        let kibibytes = need >> 10
        let halves = count / 2
        let even = (0..<(count - halves)).map { kibibytes * $0 / (count - halves) }
        let steps = (0..<halves).map { kibibytes >> ($0 + 2) }
        return Set((even + steps).map { max(least, $0) }).sorted()
    }

    /// What is wrong if the session that met the full disk cannot read any more; nil if it reads. A session that is
    /// about to be reopened is left out, since reopening may need space.
    static func objection(
        _ events: [ScriptEvent], _ operations: [ScriptOperation]
    ) -> (outcome: Outcome, detail: String)? {
        guard
            let place = events.firstIndex(where: { if case .failed = $0 { true } else { false } }),
            case .failed(let step, _) = events[place], operations.indices.contains(step - 1),
            ["insert", "update", "delete"].contains(operations[step - 1].action),
            events.indices.contains(place + 1), case .sawNothing(let text) = events[place + 1]
        else { return nil }
        return (.refused, "the session that met the full disk reads no more: \(text)")
    }

    func run(_ context: CaseContext) throws {
        guard let kind = SmallFileSystem.Kind(rawValue: try context.text("filesystem")) else {
            throw HarnessError("no such file system: \(try context.text("filesystem"))")
        }
        if let reason = try Self.reasonAgainst(kind, context) {
            return context.report.inconclusive("SKIPPED: no \(kind.rawValue) of our own: \(reason)")
        }
        let operations = Self.operations(of: context.test)
        let script = try FaultedScript(
            context, operations, isMeasured: true, objection: { Self.objection($0, operations) })
        guard let script else { return }
        let need = script.calls.need(.disk)
        let rooms = Self.rooms(
            need: need, count: try context.integer("trials"), least: try context.integer("least"))
        context.report.note("a script takes \(need >> 10) KiB of disk")
        let tally = FaultTally(context, "full disks")
        try context.sweep(rooms.map { FaultAddress(.full, $0) }, read: Self.room) { address in
            try ProcessRights.takeOwnMounts()
            let disk = try SmallFileSystem(kind, at: context.trialDirectory + "/disk", holding: need)
            defer { disk.unmount() }
            return try Self.attempt(script, disk, room: (address.position ?? 0) << 10, tally: tally)
        }
        try tally.report(context, why: "the script found room enough")
    }

    /// Parses the address of a trial that leaves less than 1 GiB of room; returns nil for any other text.
    private static func room(_ text: String) -> FaultAddress? {
        let address = FaultAddress(text: text)
        guard let room = address.position, room < 1 << 20, address == FaultAddress(.full, room) else { return nil }
        return address
    }

    private static func attempt(
        _ script: FaultedScript, _ disk: SmallFileSystem, room: Int, tally: FaultTally
    ) throws -> (outcome: Outcome, detail: String) {
        let location = DatabaseLocation(directory: disk.directory + "/database")
        var fault = ScriptFault()
        fault.begin = {}
        fault.lift = { try disk.makeRoom() }
        return try script.attempt(fault, tally, at: location) {
            try disk.makeRoom()
            try FileTree.remove(location.directory)
            try FileTree.createDirectory(location.directory)
            if !ConditionMistake.diskNotFilled.isPlanted { try disk.fill(leaving: room) }
        }
    }

    /// Tries to mount, since no other call shows whether this process may. nil if the mount succeeds.
    private static func reasonAgainst(_ kind: SmallFileSystem.Kind, _ context: CaseContext) throws -> String? {
        if let reason = kind.reasonAgainst { return reason }
        let directory = context.directory + "/mount"
        let child = try ForkedChild.start { output in
            var words = ""
            do {
                try ProcessRights.takeOwnMounts()
                let disk = try SmallFileSystem(kind, at: directory)
                disk.unmount()
            } catch {
                words = "\(error)"
            }
            do { try FileTree.writeAll(output, Array(words.utf8), path: "a pipe") } catch { return 2 }
            return words.isEmpty ? 0 : 1
        }
        var words: [UInt8] = []
        while child.receive(into: &words, milliseconds: 1_000) {}
        guard child.wait() != .exited(0) else { return nil }
        return words.isEmpty ? "a trial of it ended without a word" : String(decoding: words, as: UTF8.self)
    }
}
