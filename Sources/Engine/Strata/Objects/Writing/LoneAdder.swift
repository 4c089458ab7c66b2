import StrataStorage

/// Adds objects that lead to no other object: the common case, without the stack, the copies of field descriptions and
/// the references counted that ``ObjectAdder`` needs.
struct LoneAdder {
    /// The class of the last object.
    private var type: ObjectIdentifier?
    /// The Realm owns it.
    private var access: Unmanaged<ClassAccess>?

    /// Whether its objects may be added alone: what could lead to another object is one word, and no field has to be
    /// bound to its column.
    static func suits(_ plan: ClassPlan) -> Bool {
        !plan.isEmbedded && !plan.isEncodable && plan.plainFields.isEmpty && plan.boundOffsets.allSatisfy { $0 >= 0 }
    }

    /// Adds an unmanaged object whose primary key must not exist.
    /// - Returns: false, without a change, if ``ObjectAdder`` has to add it, or to tell why it cannot be added.
    @inline(__always)
    mutating func add(_ object: ObjectBase, in write: RunningWrite) -> Bool {
        let wanted = ObjectIdentifier(Swift.type(of: object))
        if type != wanted {
            guard let found = write.instance.access(for: Swift.type(of: object)) else { return false }
            type = wanted
            access = .passUnretained(found)
        }
        guard let access, write.failure == nil else { return false }
        return access._withUnsafeGuaranteedRef { $0.addsAlone && Self.add(object, $0, in: write) }
    }

    @inline(__always)
    private static func add(_ object: ObjectBase, _ access: ClassAccess, in write: RunningWrite) -> Bool {
        guard let plan = access.plan else { return false }
        for offset in plan.boundOffsets where object._holdsReference(offset) { return false }
        let number = object._field(access.rowKeyOffset).assumingMemoryBound(to: Int?.self).pointee ?? 0
        let key = RowKey(Int64(number))
        if key.rawValue == LinkPayload.null { return false }
        let instance = write.instance
        let cells = write.encoder.encode(object, access)
        if write.failure != nil { return true }
        do throws(StorageError) {
            try write.insert(access, key, cells)
        } catch .misuse(.duplicateKey) {
            return false
        } catch {
            write.fail(RealmError(error))
            return true
        }
        instance.bind(object, access, key, creation: write.version)
        return true
    }
}
