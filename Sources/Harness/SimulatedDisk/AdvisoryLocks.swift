import FaultModel

/// Locks on single bytes of files, owned by handles, as by open file descriptions: two handles of one process exclude
/// each other, and a handle can convert its lock to the other kind.
struct AdvisoryLocks: Sendable {
    private struct Place: Hashable {
        var inode: Inode
        var byte: Int64
    }

    private struct Holders: Sendable {
        var exclusive: Int?
        var shared: Set<Int> = []

        var isEmpty: Bool { exclusive == nil && shared.isEmpty }
    }

    private var places: [Place: Holders] = [:]

    mutating func tryLock(_ inode: Inode, byte: Int64, exclusive: Bool, handle: Int) -> Bool {
        var holders = places[Place(inode: inode, byte: byte), default: Holders()]
        if let holder = holders.exclusive, holder != handle { return false }
        if exclusive, !holders.shared.subtracting([handle]).isEmpty { return false }
        holders.exclusive = exclusive ? handle : nil
        if exclusive { holders.shared = [] } else { holders.shared.insert(handle) }
        places[Place(inode: inode, byte: byte)] = holders
        return true
    }

    /// Whether another handle has the lock, of either kind.
    func isLocked(_ inode: Inode, byte: Int64, besides handle: Int) -> Bool {
        guard let holders = places[Place(inode: inode, byte: byte)] else { return false }
        if let holder = holders.exclusive, holder != handle { return true }
        return !holders.shared.subtracting([handle]).isEmpty
    }

    mutating func unlock(_ inode: Inode, byte: Int64, handle: Int) {
        release(handle, at: Place(inode: inode, byte: byte))
    }

    mutating func unlockAll(handle: Int) {
        for place in Array(places.keys) { release(handle, at: place) }
    }

    private mutating func release(_ handle: Int, at place: Place) {
        guard var holders = places[place] else { return }
        if holders.exclusive == handle { holders.exclusive = nil }
        holders.shared.remove(handle)
        places[place] = holders.isEmpty ? nil : holders
    }
}
