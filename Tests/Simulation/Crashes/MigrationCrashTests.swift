import FaultModel
import Foundation
import Seeds
import SimulatedDisk
import Strata
import Testing

/// Migrations interrupted at every disk operation by the death of the process and by a loss of power.
@Suite struct MigrationCrashTests {
    enum Old {
        final class Row: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var text = ""
            @Persisted var next: Row?
            override class func className() -> String { "Row" }
        }
    }

    enum Middle {
        final class Row: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var text = ""
            @Persisted var length = 0
            @Persisted var next: Row?
            override class func className() -> String { "Row" }
        }
    }

    enum New {
        final class Row: Object {
            @Persisted(primaryKey: true) var id = 0
            @Persisted var label = ""
            @Persisted var length = ""
            @Persisted var next: Row?
            override class func className() -> String { "Row" }
        }
    }

    private static let count = 60
    private static let before = (0..<count).map { "\($0) text \($0) \($0 == 0 ? -1 : $0 - 1)" }
    private static let after = (0..<count).map { "\($0) text \($0) \("text \($0)".count)! \($0 == 0 ? -1 : $0 - 1)" }

    private static let plan = MigrationPlan([
        MigrationStep(to: 1, classes: [Middle.Row.self]) { migration in
            try migration.enumerateObjects(ofType: "Row") { old, new in
                try new?.set("length", to: old?.value("text", as: String.self).count)
            }
        },
        MigrationStep(to: 2) { migration in
            migration.renameProperty(onType: "Row", from: "text", to: "label")
            migration.convertProperty(onType: "Row", "length") { "\($0 ?? 0)!" }
        },
    ])

    private static let block: MigrationBlock = { migration, _ in
        migration.renameProperty(onType: "Row", from: "text", to: "label")
        try migration.enumerateObjects(ofType: "Row") { old, new in
            try new?.set("length", to: "\(old?.value("text", as: String.self).count ?? 0)!")
        }
    }

    private func open<Result>(
        _ disk: SimulatedDisk, _ version: UInt64, _ type: ObjectBase.Type,
        _ change: (inout Realm.Configuration) -> Void,
        _ body: (Realm) throws -> Result
    ) throws -> Result {
        var configuration = Realm.Configuration(
            fileURL: URL(fileURLWithPath: "/folder/a.strata"), schemaVersion: version, objectTypes: [type])
        change(&configuration)
        let scheduling = CooperativeScheduling(Seed(7))
        defer { scheduling.dropWork() }
        let realm = try Realm(configuration: configuration, fileSystem: disk, scheduling: scheduling)
        return try body(realm)
    }

    private func rows0(_ disk: SimulatedDisk) throws -> [String] {
        try open(disk, 0, Old.Row.self, { _ in }) { realm in
            try realm.objects(Old.Row.self).map { row in
                let next = try row.read(\.next)?.read(\.id)
                return "\(try row.read(\.id)) \(try row.read(\.text)) \(next ?? -1)"
            }
        }
    }

    private func rows2(_ disk: SimulatedDisk, _ change: (inout Realm.Configuration) -> Void) throws -> [String] {
        try open(disk, 2, New.Row.self, change) { realm in
            try realm.objects(New.Row.self).map { row in
                let next = try row.read(\.next)?.read(\.id)
                return "\(try row.read(\.id)) \(try row.read(\.label)) \(try row.read(\.length)) \(next ?? -1)"
            }
        }
    }

    /// A disk with a file of version 0.
    private func fill() throws -> SimulatedDisk {
        let disk = SimulatedDisk(seed: Seed(11))
        try open(disk, 0, Old.Row.self, { _ in }) { realm in
            try realm.write {
                var last: Old.Row?
                for id in 0..<Self.count {
                    let row = realm.create(Old.Row.self, value: ["id": id, "text": "text \(id)"])
                    row.next = last
                    last = row
                }
            }
        }
        return disk.kill(healthy: true)
    }

    /// Expects that the file holds all of the old contents, which can then be migrated, or all of the new ones.
    /// - Returns: whether the file held the new contents.
    private func judge(
        _ disk: SimulatedDisk, _ address: String, _ change: (inout Realm.Configuration) -> Void
    ) throws -> Bool {
        do {
            #expect(try rows0(disk) == Self.before, "\(address)")
        } catch Realm.Error.schemaMismatch {
            #expect(try rows2(disk, { _ in }) == Self.after, "\(address)")
            return true
        }
        #expect(try rows2(disk, change) == Self.after, "\(address), again")
        return false
    }

    private func sweep(_ change: (inout Realm.Configuration) -> Void) throws {
        let disk = try fill()
        let start = disk.operations
        #expect(try rows2(disk, change) == Self.after)
        var done = 0
        for operation in start...disk.operations {
            if try judge(disk.kill(after: operation), "killed after \(operation)", change) { done += 1 }
            let step = CrashAddress.Step(operation: operation, state: StateMask())
            guard let left = disk.crash(at: step) else { continue }
            _ = try judge(left, "power lost at \(operation)", change)
        }
        #expect(done > 0 && done < disk.operations - start)
    }

    @Test("kill-mid-migration: a block killed at any operation starts over or is complete")
    func killedBlock() throws {
        try sweep { $0.migrationBlock = Self.block }
    }

    @Test("kill-mid-migration: a plan of several steps killed at any operation starts over or is complete")
    func killedPlan() throws {
        try sweep {
            $0.migrationPlan = Self.plan
            $0.migrationBackup = .untilNextOpen
        }
    }

    @Test("a full disk ends a migration with an error, and the file is unchanged")
    func fullDisk() throws {
        let whole = try fill()
        for (name, change) in [
            ("block", { $0.migrationBlock = Self.block }),
            ("plan", { $0.migrationPlan = Self.plan }),
        ] as [(String, (inout Realm.Configuration) -> Void)] {
            let measured = whole.kill(healthy: true)
            #expect(try rows2(measured, change) == Self.after)
            for operation in whole.operations..<measured.operations {
                let disk = whole.kill(healthy: true)
                disk.inject(Fault(.noSpace, at: .operation(operation), isLasting: true))
                do { _ = try rows2(disk, change) } catch let error as Realm.Error {
                    #expect(
                        [.outOfDiskSpace, .fail, .fileAccess, .fileOperationFailed].contains(error.code), "\(error)")
                }
                _ = try judge(disk.kill(healthy: true), "\(name), disk full at \(operation)", change)
            }
        }
    }
}
