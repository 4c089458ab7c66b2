import Files
import Platform

/// Gives up rights of a process, or moves it into namespaces of its own: for trials under a limit that does not apply
/// to root, and for mounts that no other process sees. None of it can be undone, so it is for child processes.
package enum ProcessRights {
    package static var isRoot: Bool { geteuid() == 0 }

    #if canImport(Glibc)
        private typealias SetUsers = @convention(c) (UInt32, UInt32, UInt32) -> Int32
        private typealias Unshare = @convention(c) (Int32) -> Int32
        private typealias Capabilities =
            @convention(c) (UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>) -> Int32
    #endif

    /// Switches to a real user id that no other process has, so that the limit on the user's processes applies to this
    /// process. The effective user, and with it the access to files, stays.
    package static func becomeLonelyUser() throws(HarnessError) {
        #if canImport(Glibc)
            // Above the ids that a machine uses, and different for each process.
            let user = 1_000_000_000 + UInt32(bitPattern: getpid())
            guard let setUsers = LoadedSymbols.function("setresuid", as: SetUsers.self), setUsers(user, .max, .max) == 0
            else {
                throw HarnessError("this process may not become another user: \(systemMessage())")
            }
            // Processes with these capabilities are exempt from limits.
            try drop([.administration, .resources])
        #else
            throw HarnessError("users are not changed on this system")
        #endif
    }

    /// Moves into a mount namespace of its own. Other processes do not see the mounts that are made from now on, and
    /// the mounts vanish with the last process of the namespace.
    package static func takeOwnMounts() throws(HarnessError) {
        #if canImport(Glibc)
            let (newMounts, newUsers): (Int32, Int32) = (0x0002_0000, 0x1000_0000)
            let (user, group, isRoot) = (geteuid(), getegid(), Self.isRoot)
            guard let unshare = LoadedSymbols.function("unshare", as: Unshare.self),
                unshare(isRoot ? newMounts : newMounts | newUsers) == 0
            else {
                throw HarnessError("this process may have no mounts of its own: \(systemMessage())")
            }
            if !isRoot { try becomeRootAmongOwnUsers(user, group) }
            let (recursive, isPrivate): (UInt, UInt) = (1 << 14, 1 << 18)
            guard mount("none", "/", nil, recursive | isPrivate, nil) == 0 else {
                throw HarnessError("mounts cannot be kept from others: \(systemMessage())")
            }
        #else
            throw HarnessError("mounts are not private on this system")
        #endif
    }

    #if canImport(Glibc)
        /// Enters a user namespace as its root, which may mount file systems that need no device.
        private static func becomeRootAmongOwnUsers(_ user: UInt32, _ group: UInt32) throws(HarnessError) {
            do {
                try FileTree.writeText("/proc/self/setgroups", "deny")
                try FileTree.writeText("/proc/self/uid_map", "0 \(user) 1")
                try FileTree.writeText("/proc/self/gid_map", "0 \(group) 1")
            } catch {
                throw HarnessError("this process may have no users of its own: \(error)")
            }
        }

        /// By their numbers in the kernel.
        private enum Capability: UInt32 {
            case administration = 21
            case resources = 24
        }

        private static func drop(_ dropped: [Capability]) throws(HarnessError) {
            guard let get = LoadedSymbols.function("capget", as: Capabilities.self),
                let set = LoadedSymbols.function("capset", as: Capabilities.self)
            else {
                throw HarnessError("the C library cannot give up rights")
            }
            // The header is the version of the call, and 0 for this process. Then come the low halves of the effective,
            // permitted and inheritable sets, and the high halves.
            var header: [UInt32] = [0x2008_0522, 0]
            var sets = [UInt32](repeating: 0, count: 6)
            guard get(&header, &sets) == 0 else { throw HarnessError("rights cannot be read: \(systemMessage())") }
            for place in 0..<3 { for right in dropped { sets[place] &= ~(1 << right.rawValue) } }
            guard set(&header, &sets) == 0 else { throw HarnessError("rights cannot be given up: \(systemMessage())") }
        }
    #endif
}
