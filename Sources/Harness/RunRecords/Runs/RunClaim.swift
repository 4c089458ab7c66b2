import Files
import Platform

/// The exclusive use of a directory by this process, to write a run.
///
/// Invariants:
/// 1. A directory that is not empty and has no marker of a run is refused before anything in it is changed.
/// 2. One run per directory: the claim holds the lock as long as it lives, and the kernel releases it when the process
///    ends.
/// 3. Only entries that the marker lists are removed or overwritten. Each was listed before it was created.
package final class RunClaim: Sendable {
    package let directory: RunDirectory
    package let id: String
    private let lock: DirectoryLock
    private let scratch: ScratchDirectory

    private init(directory: RunDirectory, id: String, lock: DirectoryLock, scratch: ScratchDirectory) {
        self.directory = directory
        self.id = id
        self.lock = lock
        self.scratch = scratch
    }

    // MARK: Taking

    /// Takes a new directory below `parent`, named `id`; if that exists, `id-2`, and so on.
    package static func make(
        below parent: String, id: String, options: [String: [String]] = [:]
    ) throws -> RunClaim {
        try FileTree.createDirectory(parent)
        var number = 1
        while true {
            let unique = number == 1 ? id : "\(id)-\(number)"
            let path = parent + "/" + unique
            if mkdir(path, 0o755) == 0 { return try take(path, id: unique, options: options) }
            guard errno == EEXIST else { throw FileTreeError("create directory", path) }
            number += 1
        }
    }

    /// Takes the directory that the user named. An earlier run in it is first moved to `PATH.N`.
    ///
    /// - Parameter setAside: gets the new path of the earlier run.
    /// Throws: `DirectoryClaimError` if the directory is in use, or contains anything but a run.
    package static func take(
        _ path: String, id: String, options: [String: [String]] = [:], setAside: (String) -> Void = { _ in }
    ) throws -> RunClaim {
        try FileTree.createDirectory(path)
        guard FileTree.isDirectory(path) else {
            throw DirectoryClaimError("\(path) is no directory. Name another --out")
        }
        var kept: [DirectoryLock] = []
        while true {
            try refuseForeign(path)
            let lock = try lock(path)
            // Another process may have changed the directory between the check and the lock.
            try refuseForeign(path)
            guard DirectoryMarker.exists(in: path) else {
                return try withExtendedLifetime(kept) { try mark(path, id: id, options: options, lock: lock) }
            }
            // A path that is a symbolic link stays one: what it refers to is moved.
            let place = resolved(path)
            setAside(try move(place))
            kept.append(lock)
            // If another run was faster, its directory is checked like any other.
            if mkdir(place, 0o755) != 0 && errno != EEXIST { throw FileTreeError("create directory", place) }
        }
    }

    /// Takes the directory of a run to resume, and removes the scratch of its killed processes.
    package static func resume(_ path: String) throws -> (claim: RunClaim, marker: DirectoryMarker) {
        let found = try DirectoryMarker.read(from: path)
        try found.refuseLinks(in: path)
        let lock = try lock(path)
        let (scratch, marker) = try makeScratch(path)
        return (
            RunClaim(directory: directory(path, scratch), id: marker.runID, lock: lock, scratch: scratch), marker
        )
    }

    private static func directory(_ path: String, _ scratch: ScratchDirectory) -> RunDirectory {
        RunDirectory(path: path, workDirectory: scratch.files)
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func refuseForeign(_ path: String) throws {
        // A run that was killed before its marker was complete leaves only these two files.
        let unmarked = [DirectoryMarker.lockFile, DirectoryMarker.file + ".new"]
        let names = try FileTree.names(in: path).filter { !unmarked.contains($0) }
        if names.isEmpty { return }
        guard DirectoryMarker.exists(in: path) else {
            let list = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? ", .." : "")
            throw DirectoryClaimError(
                "\(path) is not empty (\(list)), and no run of assay made it: there is no \(DirectoryMarker.file). "
                    + "Nothing was touched. Name another --out, or an empty directory")
        }
        try DirectoryMarker.read(from: path).refuseLinks(in: path)
    }

    private static func lock(_ path: String) throws -> DirectoryLock {
        switch try DirectoryLock.attempt(path + "/" + DirectoryMarker.lockFile) {
        case .taken(let lock): return lock
        case .held(let processID):
            let who = processID.map { "process \($0)" } ?? "another process"
            throw DirectoryClaimError(
                "\(path) is in use by \(who). Wait until it has ended, or name another --out", isInUse: true)
        }
    }

    private static func move(_ path: String) throws -> String {
        var number = 1
        while FileTree.kind("\(path).\(number)") != nil { number += 1 }
        let target = "\(path).\(number)"
        guard rename(path, target) == 0 else {
            let reason = String(cString: strerror(errno))
            throw DirectoryClaimError(
                "\(path) holds a run, and cannot be moved to \(target): \(reason). Name another --out")
        }
        return target
    }

    private static func mark(
        _ path: String, id: String, options: [String: [String]], lock: DirectoryLock
    ) throws -> RunClaim {
        let entries = [DirectoryMarker.file, DirectoryMarker.lockFile] + RunDirectory.entries
        try DirectoryMarker(runID: id, entries: Set(entries), options: options).write(to: path)
        let (scratch, _) = try makeScratch(path)
        return RunClaim(directory: directory(path, scratch), id: id, lock: lock, scratch: scratch)
    }

    // MARK: Scratch

    /// A directory below `work` for a command other than a run, such as a replay. Each such command has its own.
    package static func scratch(for path: String) throws -> ScratchDirectory {
        try DirectoryMarker.read(from: path).refuseLinks(in: path)
        return try makeScratch(path).scratch
    }

    /// Removes the abandoned scratch directories, and creates a new one, which the marker lists first.
    private static func makeScratch(_ path: String) throws -> (scratch: ScratchDirectory, marker: DirectoryMarker) {
        try DirectoryLock.during(path) {
            var marker = try DirectoryMarker.read(from: path)
            try dropAbandoned(path, &marker)
            let name = ScratchDirectory.newName()
            marker.entries.insert("work/" + name)
            try marker.write(to: path)
            try FileTree.createDirectory(path + "/work")
            return (try ScratchDirectory.make(in: path + "/work", name: name), marker)
        }
    }

    private static func dropAbandoned(_ path: String, _ marker: inout DirectoryMarker) throws {
        let listed = marker.entries.filter { $0.hasPrefix("work/" + ScratchDirectory.prefix) }
        let names = Set(listed.map { String($0.dropFirst("work/".count)) })
        for name in try ScratchDirectory.removeAbandoned(in: path + "/work", names: names) {
            marker.entries.remove("work/" + name)
        }
    }

    /// Removes the scratch of a command that succeeded, and `work` if it is then empty.
    package static func giveUp(_ scratch: ScratchDirectory, of path: String) throws {
        try DirectoryLock.during(path) {
            var marker = try DirectoryMarker.read(from: path)
            try scratch.remove()
            try dropAbandoned(path, &marker)
            if FileTree.kind(scratch.path) == nil { marker.entries.remove("work/" + scratch.name) }
            try marker.write(to: path)
            // The directory stays if it contains other files.
            _ = rmdir(path + "/work")
        }
    }

    /// Removes the scratch of the run, which has ended. The lock stays until the claim is released or the process ends.
    package func end() throws {
        try Self.giveUp(scratch, of: directory.path)
    }

    // MARK: Reports

    /// Writes a rendered file into a run's directory. Refuses to replace a file of that name that the run did not
    /// write.
    package static func write(_ text: String, to name: String, in path: String) throws {
        try DirectoryLock.during(path) {
            var marker = try DirectoryMarker.read(from: path)
            let file = path + "/" + name
            if marker.entries.contains(name) {
                guard FileTree.kind(file) != .link else {
                    throw DirectoryClaimError("\(file) is a symbolic link, which no run makes: it is not written over")
                }
            } else {
                guard FileTree.kind(file) == nil else {
                    throw DirectoryClaimError("\(file) is not of this run, and is not written over. Move it away")
                }
                marker.entries.insert(name)
                try marker.write(to: path)
            }
            try FileTree.replaceText(file, text)
        }
    }
}
