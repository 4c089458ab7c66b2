import Harness
import RunRecords
import Strata

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

final class ListOwner: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var elements: List<Int>
}

/// The elements of a list as one value.
final class PackedOwner: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var elements: Data
}

/// Lists as properties of objects.
final class StrataLists: ListSession {
    private let path: String
    private let keeping: ListKeeping
    private var realm: Realm?

    static func path(at location: DatabaseLocation) -> String { location.directory + "/lists.strata" }

    init(
        _ location: DatabaseLocation, _ configuration: Realm.Configuration, _ keeping: ListKeeping
    ) throws(EngineError) {
        path = Self.path(at: location)
        self.keeping = keeping
        var configuration = configuration
        let path = path
        configuration.fileURL = URL(fileURLWithPath: path)
        configuration.objectTypes = [keeping == .packed ? PackedOwner.self : ListOwner.self]
        DamageReports.shared.listen(&configuration, path, settings: nil)
        do { realm = try Realm(configuration: configuration) } catch { throw EngineError(error) }
    }

    /// Runs the body, and throws its error or one that was reported meanwhile.
    private func checked<Output>(_ body: (Realm) throws -> Output) throws(EngineError) -> Output {
        guard let realm else { throw EngineError(.refused, "the lists are closed") }
        let output: Output
        do { output = try body(realm) } catch { throw EngineError(error) }
        try DamageReports.shared.check(path)
        return output
    }

    func sizes() throws(EngineError) -> SizePoint {
        try checked { realm in
            let space = try realm.store.space()
            return SizePoint(
                fileBytes: space.fileBytes, liveBytes: space.liveBytes, freeBytes: space.freeBytes,
                logBytes: space.logBytes)
        }
    }

    func close() throws(EngineError) { realm = nil }

    /// An application adds an object with that many elements or more before it fills the list, to avoid a second copy.
    private static let large = 1_000

    func addLists(_ lists: ListBatch) throws(EngineError) {
        let keeping = keeping
        try checked { realm in
            try realm.write {
                for owner in lists.owners {
                    let elements = lists.elements(owner)
                    if keeping == .packed {
                        let object = PackedOwner()
                        object.id = Int(owner)
                        object.elements = elements.withUnsafeBytes { Data($0) }
                        realm.add(object)
                        continue
                    }
                    let object = ListOwner()
                    object.id = Int(owner)
                    let isLarge = lists.length >= Self.large
                    if !isLarge { object.elements.append(objectsIn: elements.lazy.map { Int($0) }) }
                    realm.add(object)
                    if isLarge { object.elements.append(objectsIn: elements.lazy.map { Int($0) }) }
                }
            }
        }
    }

    private func list(_ owner: Int64, _ realm: Realm) throws -> List<Int> {
        guard keeping != .packed else { throw EngineError(.unsupported, "a packed list is one value") }
        guard let object = realm.object(ofType: ListOwner.self, forPrimaryKey: Int(owner)) else {
            throw EngineError(.refused, "no owner \(owner)")
        }
        return object.elements
    }

    func change(owner: Int64, _ change: ListChange, beforeCommit: () -> Void) throws(EngineError) {
        try checked { realm in
            try realm.write {
                let list = try self.list(owner, realm)
                switch change {
                case .append(let values): for value in values { list.append(Int(value)) }
                case .appendAll(let values): list.append(objectsIn: values.lazy.map { Int($0) })
                case .insert(let values, let places):
                    for (value, place) in zip(values, places) { list.insert(Int(value), at: place) }
                case .remove(let places): for place in places { list.remove(at: place) }
                case .move(let places, let others):
                    for (place, other) in zip(places, others) { list.move(from: place, to: other) }
                }
                beforeCommit()
            }
        }
    }

    func readElements(owner: Int64, at places: [Int]) throws(EngineError) -> ListDigest {
        try checked { realm in
            let list = try self.list(owner, realm)
            var digest = ListDigest()
            for place in places { digest.add(Int64(list[place])) }
            return digest
        }
    }

    func walkLists(owners: [Int64]) throws(EngineError) -> ListDigest {
        let keeping = keeping
        return try checked { realm in
            var digest = ListDigest()
            for owner in owners {
                if keeping == .packed {
                    for value in try Self.packed(owner, realm) { digest.add(value) }
                } else {
                    for value in try self.list(owner, realm) { digest.add(Int64(value)) }
                }
                digest.endList()
            }
            return digest
        }
    }

    func readList(owner: Int64) throws(EngineError) -> [Int64] {
        let keeping = keeping
        return try checked { realm in
            keeping == .packed ? try Self.packed(owner, realm) : try self.list(owner, realm).map { Int64($0) }
        }
    }

    private static func packed(_ owner: Int64, _ realm: Realm) throws -> [Int64] {
        guard let object = realm.object(ofType: PackedOwner.self, forPrimaryKey: Int(owner)) else {
            throw EngineError(.refused, "no owner \(owner)")
        }
        let bytes = object.elements
        return [Int64](unsafeUninitializedCapacity: bytes.count / 8) { buffer, count in
            count = bytes.copyBytes(to: UnsafeMutableRawBufferPointer(buffer)) / 8
        }
    }
}
