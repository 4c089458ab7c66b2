import Foundation
import Strata
import StrataFiles

/// A database in memory, of its own for every test.
func makeRealm(
    _ types: [ObjectBase.Type], invalidAccess: Realm.Configuration.InvalidAccess = .substitute,
    handler: (@Sendable (Realm.Configuration.InvalidAccessReport) -> Void)? = nil
) throws -> Realm {
    try Realm(
        configuration: Realm.Configuration(
            inMemoryIdentifier: UUID().uuidString, objectTypes: types, invalidAccess: invalidAccess,
            invalidAccessHandler: handler))
}

/// A temporary file, removed with the object.
final class TemporaryFile {
    let url = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("strata-\(UUID().uuidString).strata")

    func configuration(_ types: [ObjectBase.Type], version: UInt64 = 0, _ block: MigrationBlock? = nil)
        -> Realm.Configuration
    {
        Realm.Configuration(
            fileURL: url, schemaVersion: version, migrationBlock: block, objectTypes: types, durability: .none)
    }

    deinit {
        for suffix in ["", ".log", ".copy"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
}

/// A value that a closure on another thread may set, under a lock.
final class Locked<Value>: @unchecked Sendable {  // `lock` guards `value`
    private let lock = NSLock()
    private var value: Value
    init(_ value: Value) { self.value = value }
    func with<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
    var current: Value { with { $0 } }
}

enum Mood: String, PersistableEnum { case calm, cross }

final class AllTypes: Object {
    @Persisted var int = 1
    @Persisted var int8: Int8 = 2
    @Persisted var int16: Int16 = 3
    @Persisted var int32: Int32 = 4
    @Persisted var int64: Int64 = 5
    @Persisted var float: Float = 1.5
    @Persisted var double = 2.5
    @Persisted var bool = true
    @Persisted var string = "text"
    @Persisted var date = Date(timeIntervalSince1970: 1_000_000)
    @Persisted var data = Data([1, 2, 3])
    @Persisted var uuid = UUID()
    @Persisted var objectId = ObjectId.generate()
    @Persisted var mood = Mood.calm
    @Persisted var optionalInt: Int?
    @Persisted var optionalInt8: Int8?
    @Persisted var optionalFloat: Float?
    @Persisted var optionalDouble: Double?
    @Persisted var optionalBool: Bool?
    @Persisted var optionalString: String?
    @Persisted var optionalDate: Date?
    @Persisted var optionalData: Data?
    @Persisted var optionalUUID: UUID?
    @Persisted var optionalObjectId: ObjectId?
    @Persisted var optionalMood: Mood?
    @Persisted var link: AllTypes?
    @Persisted var ints: List<Int>
    @Persisted var strings: List<String>
    @Persisted var doubles: List<Double>
    @Persisted var optionalStrings: List<String?>
    @Persisted var dates: List<Date>
    @Persisted var objects: List<AllTypes>
    @Persisted(originProperty: "link") var linkedBy: LinkingObjects<AllTypes>
}

final class Counter: Object {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = "unnamed"
    @Persisted(indexed: true) var count = 0
    @Persisted var score: Double?

    convenience init(_ id: Int, _ name: String = "unnamed", count: Int = 0) {
        self.init()
        self.id = id
        self.name = name
        self.count = count
    }
}

final class Note: Object {
    @Persisted var text = ""
    @Persisted var rank = 0

    convenience init(_ text: String, rank: Int = 0) {
        self.init()
        self.text = text
        self.rank = rank
    }
}
