import Harness
import Measuring
import RunRecords
import Strata

/// A class for a table of a data set: converts rows to objects and back.
///
/// Measured loops are requirements with an inlined default, so that each class has its own copy of them, with direct
/// property reads and no dynamic dispatch.
protocol TableObject: Object {
    static var tableName: String { get }

    /// Makes unmanaged objects from rows, without their links.
    static func maker(_ table: Table) throws(EngineError) -> (Int) -> Self

    /// The object of a row index, by its key where the class has one.
    static func find(_ row: Int, in realm: Realm) -> Self?

    /// As ``find(_:in:)``, for many rows: an application makes the results of a class once.
    static func finder(in realm: Realm) -> (Int) -> Self?

    /// The row index, if the key determines it; nil for classes whose rows are numbered by their order.
    func keyedRow() throws -> Int?

    /// Adds a property to a digest, read as an application reads it; nil when there is none of that name.
    static func adder(_ column: String) -> ((Self, inout ReadDigest) -> Void)?

    /// A property, or the error of its read.
    func value(_ column: String, _ rows: RowNumbers) throws -> Value

    func setLinks(_ column: String, _ targets: [ObjectBase])

    static func integer(_ column: String) -> ReferenceWritableKeyPath<Self, Int>?

    /// Sets an integer property as an application does, by its name in the source; nil when there is none of that name.
    static func setter(_ column: String) -> ((Self, Int) -> Void)?

    /// Visits the targets of an object's links, forward over a column of its own.
    static func walker(_ column: String, property: String?) -> ((Self, inout ReadDigest) -> Void)?

    /// As ``walker(_:property:)``, backwards: visits the objects whose `column` of the class `table` links to the
    /// object.
    static func backWalker(_ table: String, _ column: String, property: String?) -> ((Self, inout ReadDigest) -> Void)?

    static func countEqual(_ column: String, _ text: String, in realm: Realm) -> Int?

    /// The objects whose primary key is in the range, as a query; nil for classes without one.
    static func keyed(_ keys: Range<Int64>, in realm: Realm) -> Results<Self>?

    /// nil when the class lacks these two properties.
    static func count(_ filter: TwoColumnFilter, in realm: Realm) -> Int?

    // Loops.
    static func readPoints(
        _ keys: [Int64], _ adders: [(Self, inout ReadDigest) -> Void], in realm: Realm, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest
    static func readEach(
        _ keys: [Int64], _ adders: [(Self, inout ReadDigest) -> Void], in realm: Realm, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest
    static func update(
        _ column: String, _ keys: [Int64], _ values: [Int64], in realm: Realm
    ) throws(EngineError)
    static func readHeld(
        _ held: [Self], _ column: String, count: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest
    static func readHeldUnmanaged(_ held: [Self], _ column: String, count: Int) throws(EngineError) -> ReadDigest
    static func walk(
        _ rows: [Int32], in realm: Realm, latency: LatencyRecorder?, _ visit: (Self, inout ReadDigest) -> Void
    ) throws(EngineError) -> ReadDigest
    static func iterate(_ column: String, in realm: Realm) throws(EngineError) -> ReadDigest
    static func sum(_ column: String, in realm: Realm) throws(EngineError) -> Int
    /// Adds a table's rows inside a write, each after `link` has set its links; nil where no row has one. Returns the
    /// objects if `keeps` says so.
    static func add(
        _ table: Table, to realm: Realm, keeps: Bool, link: ((Self, Int) -> Void)?
    ) throws(EngineError) -> [ObjectBase]
}

extension TableObject {
    static var tableName: String { className() }

    static func count(_ filter: TwoColumnFilter, in realm: Realm) -> Int? { nil }

    static func finder(in realm: Realm) -> (Int) -> Self? { { find($0, in: realm) } }
    func keyedRow() throws -> Int? { nil }
    static func keyed(_ keys: Range<Int64>, in realm: Realm) -> Results<Self>? { nil }
    func setLinks(_ column: String, _ targets: [ObjectBase]) {}
    static func walker(_ column: String, property: String?) -> ((Self, inout ReadDigest) -> Void)? { nil }
    static func backWalker(
        _ table: String, _ column: String, property: String?
    ) -> ((Self, inout ReadDigest) -> Void)? { nil }

    static func adders(_ columns: [String]) throws(EngineError) -> [(Self, inout ReadDigest) -> Void] {
        var adders: [(Self, inout ReadDigest) -> Void] = []
        for column in columns {
            guard let adder = adder(column) else { throw EngineError(.refused, "\(tableName) has no \(column)") }
            adders.append(adder)
        }
        return adders
    }

    static func missing(_ row: Int) -> EngineError { EngineError(.refused, "\(tableName) has no row \(row)") }

    @inline(__always)
    static func readPoints(
        _ keys: [Int64], _ adders: [(Self, inout ReadDigest) -> Void], in realm: Realm, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        var digest = ReadDigest()
        for (index, key) in keys.enumerated() {
            if let latency {
                try latency.timeSampled(index) { () throws(EngineError) in
                    guard let object = find(Int(key), in: realm) else { throw missing(Int(key)) }
                    for adder in adders { adder(object, &digest) }
                }
            } else {
                guard let object = find(Int(key), in: realm) else { throw missing(Int(key)) }
                for adder in adders { adder(object, &digest) }
            }
        }
        return digest
    }

    /// Reads each row in the newest version.
    @inline(__always)
    static func readEach(
        _ keys: [Int64], _ adders: [(Self, inout ReadDigest) -> Void], in realm: Realm, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        var digest = ReadDigest()
        guard let latency else {
            for key in keys {
                realm.refresh()
                guard let object = find(Int(key), in: realm) else { throw missing(Int(key)) }
                for adder in adders { adder(object, &digest) }
            }
            return digest
        }
        for (index, key) in keys.enumerated() {
            try latency.timeSampled(index) { () throws(EngineError) in
                realm.refresh()
                guard let object = find(Int(key), in: realm) else { throw missing(Int(key)) }
                for adder in adders { adder(object, &digest) }
            }
        }
        return digest
    }

    @inline(__always)
    static func update(
        _ column: String, _ keys: [Int64], _ values: [Int64], in realm: Realm
    ) throws(EngineError) {
        guard let set = setter(column) else { throw EngineError(.refused, "\(tableName) has no integer \(column)") }
        for (key, value) in zip(keys, values) {
            guard let object = find(Int(key), in: realm) else { throw missing(Int(key)) }
            set(object, Int(value))
        }
    }

    @inline(__always)
    static func readHeld(
        _ held: [Self], _ column: String, count: Int, latency: LatencyRecorder?
    ) throws(EngineError) -> ReadDigest {
        guard let adder = adder(column) else { throw EngineError(.refused, "\(tableName) has no \(column)") }
        return HeldLoop.run(held, count, latency: latency, add: adder)
    }

    @inline(__always)
    static func readHeldUnmanaged(_ held: [Self], _ column: String, count: Int) throws(EngineError) -> ReadDigest {
        guard let adder = adder(column) else { throw EngineError(.refused, "\(tableName) has no \(column)") }
        return HeldLoop.runUnmanaged(held, count, adder)
    }

    @inline(__always)
    static func iterate(_ column: String, in realm: Realm) throws(EngineError) -> ReadDigest {
        guard let adder = adder(column) else { throw EngineError(.refused, "\(tableName) has no \(column)") }
        var digest = ReadDigest()
        for object in realm.objects(Self.self) { adder(object, &digest) }
        return digest
    }

    @inline(__always)
    static func sum(_ column: String, in realm: Realm) throws(EngineError) -> Int {
        guard let property = integer(column) else {
            throw EngineError(.refused, "\(tableName) has no integer \(column)")
        }
        return realm.objects(Self.self).sum(of: property)
    }

    @inline(__always)
    static func add(
        _ table: Table, to realm: Realm, keeps: Bool, link: ((Self, Int) -> Void)?
    ) throws(EngineError) -> [ObjectBase] {
        let make = try maker(table)
        var objects: [ObjectBase] = []
        if keeps { objects.reserveCapacity(table.rowCount) }
        for row in 0..<table.rowCount {
            let object = make(row)
            if let link { link(object, row) }
            realm.add(object)
            if keeps { objects.append(object) }
        }
        return objects
    }

    @inline(__always)
    static func walk(
        _ rows: [Int32], in realm: Realm, latency: LatencyRecorder?, _ visit: (Self, inout ReadDigest) -> Void
    ) throws(EngineError) -> ReadDigest {
        var digest = ReadDigest()
        let find = finder(in: realm)
        for (index, row) in rows.enumerated() {
            if let latency {
                try latency.timeSampled(index) { () throws(EngineError) in
                    guard let object = find(Int(row)) else { throw missing(Int(row)) }
                    visit(object, &digest)
                }
            } else {
                guard let object = find(Int(row)) else { throw missing(Int(row)) }
                visit(object, &digest)
            }
        }
        return digest
    }
}

/// The loop over held objects.
enum HeldLoop {
    /// As in an application: takes an object from an array, which Swift retains and releases.
    @inline(__always)
    static func run<Element: AnyObject>(
        _ held: [Element], _ count: Int, latency: LatencyRecorder?, add: (Element, inout ReadDigest) -> Void
    ) -> ReadDigest {
        var digest = ReadDigest()
        guard let latency else {
            var left = count
            while left > 0 {
                for object in held.prefix(left) { add(object, &digest) }
                left -= held.count
            }
            return digest
        }
        for index in 0..<count {
            latency.timeSampled(index) { add(held[index % held.count], &digest) }
        }
        return digest
    }

    /// Takes objects without retaining them: the cost of the read without reference counting.
    @inline(__always)
    static func runUnmanaged<Element: AnyObject>(
        _ held: [Element], _ count: Int, _ add: (Element, inout ReadDigest) -> Void
    ) -> ReadDigest {
        var digest = ReadDigest()
        let references = held.map { Unmanaged.passUnretained($0) }
        withExtendedLifetime(held) {
            var left = count
            while left > 0 {
                let round = min(left, held.count)
                for index in 0..<round { references[index]._withUnsafeGuaranteedRef { add($0, &digest) } }
                left -= round
            }
        }
        return digest
    }
}

/// Row indexes of objects: by their key, or by their place among all objects of their class.
final class RowNumbers {
    private var places: [ObjectBase: Int] = [:]

    func add<Element: TableObject>(_ objects: Results<Element>) throws {
        for (place, object) in objects.enumerated() {
            if try object.keyedRow() != nil { return }
            places[object] = place
        }
    }

    func row(of object: ObjectBase) throws -> Int {
        if let object = object as? any TableObject, let row = try object.keyedRow() { return row }
        guard let place = places[object] else { throw EngineError(.damaged, "a link to an object that is not there") }
        return place
    }
}

extension Table {
    func integers(_ name: String) throws(EngineError) -> [Int64] {
        guard case .integer(let values)? = column(name)?.values else { throw missing(name) }
        return values
    }

    func reals(_ name: String) throws(EngineError) -> [Double] {
        guard case .real(let values)? = column(name)?.values else { throw missing(name) }
        return values
    }

    func texts(_ name: String) throws(EngineError) -> TextColumn {
        guard case .text(let values)? = column(name)?.values else { throw missing(name) }
        return values
    }

    private func missing(_ name: String) -> EngineError {
        EngineError(.unsupported, "table \(self.name) has no column \(name) of the kind that its class has")
    }
}
