import FaultModel
import Files
import Platform

/// The files that are damaged, and all else that a copy of them needs: further names, permissions, links, directories.
package struct DamageSubject: Sendable {
    /// Each file once, even if it has several names (hard links). It is called by its first name, as ``BytePath/text``.
    package private(set) var files = DamagedFiles([])
    /// The path that replaces `{}` in a command, relative to a copy's directory; empty for that directory itself.
    package private(set) var name = ""
    /// Parents before their children.
    private var directories: [(path: BytePath, mode: UInt32)] = []
    /// Symbolic links, FIFOs and sockets.
    private var nodes: [(path: BytePath, node: FileNode)] = []
    /// By index in `files`: the names of the file, the one that it is called by first.
    private var names: [[BytePath]] = []
    /// By index in `files`.
    private var modes: [UInt32] = []
    private var rootMode: UInt32 = 0o755

    /// Files in memory, with the permissions 644; `{}` stands for the first one.
    package init(_ files: [(name: String, bytes: [UInt8])]) {
        self.files = DamagedFiles(files.map { (BytePath($0.name).text, $0.bytes) })
        name = files.first?.name ?? ""
        names = files.map { [BytePath($0.name)] }
        modes = files.map { _ in 0o644 }
    }

    /// Reads a directory with all below it, or files that are named one by one, which a copy holds in one directory.
    ///
    /// Throws: `TrialRefusal` for what cannot be damaged.
    package init(at paths: [String]) throws {
        var found = FoundFiles()
        if paths.count == 1, FileTree.isDirectory(paths[0]) {
            // The path may be a symbolic link to the directory.
            let root = BytePath(FileTree.absolute(paths[0]) ?? paths[0])
            rootMode = UInt32(try FileTree.status(root).st_mode) & 0o7777
            try take(root, nil, &found)
        } else {
            for path in paths { try take(named: path, &found) }
            let bases = names.joined()
            guard Set(bases).count == bases.count else {
                throw TrialRefusal("two of the files have the same name: name their directory instead")
            }
            name = paths.first.map(Self.base) ?? ""
        }
        files = DamagedFiles(zip(names, found.bytes).map { ($0[0].text, $1) })
        guard files.byteCount > 0 else {
            throw TrialRefusal("\(paths[0]) holds no bytes: there is nothing to damage")
        }
    }

    /// The files read before, so that a file with several names is read once.
    private struct FoundFiles {
        var indexes: [FileIdentity: Int] = [:]
        var bytes: [[UInt8]] = []
    }

    private static func base(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    private mutating func take(named path: String, _ found: inout FoundFiles) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw TrialRefusal("there is no file \(path)") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TrialRefusal(
                status.st_mode & S_IFMT == S_IFDIR
                    ? "\(path) is a directory: name it alone, or its files one by one" : "\(path) is no file")
        }
        try take(BytePath(path), as: BytePath(Self.base(path)), status, &found)
    }

    private mutating func take(_ directory: BytePath, _ prefix: BytePath?, _ found: inout FoundFiles) throws {
        for name in try FileTree.names(in: directory) {
            let path = directory.appending(name)
            let place = prefix?.appending(name) ?? name
            let status = try FileTree.status(path)
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                directories.append((place, UInt32(status.st_mode) & 0o7777))
                try take(path, place, &found)
            case S_IFREG: try take(path, as: place, status, &found)
            default: nodes.append((place, try FileNode(status, at: path)))
            }
        }
    }

    private mutating func take(
        _ path: BytePath, as place: BytePath, _ status: stat, _ found: inout FoundFiles
    ) throws {
        let identity = FileIdentity(status)
        if let index = found.indexes[identity] {
            names[index].append(place)
            return
        }
        found.indexes[identity] = names.count
        found.bytes.append(try FileTree.readBytes(path))
        names.append([place])
        modes.append(UInt32(status.st_mode) & 0o7777)
    }

    /// The same files as they were at another time, read from `path`. A file that is missing there is empty.
    ///
    /// Throws: `TrialRefusal`, for example if no file is at `path`.
    package func older(_ path: String) throws -> DamagedFiles {
        guard FileTree.kind(path) != nil else { throw TrialRefusal("--older: there is nothing at \(path)") }
        let isDirectory = FileTree.isDirectory(path)
        guard isDirectory || files.files.count == 1 else {
            throw TrialRefusal("--older: of several files it is a directory with their names")
        }
        return DamagedFiles(
            try files.files.indices.map { index in
                let source = isDirectory ? BytePath(path).appending(names[index][0]) : BytePath(path)
                let isThere = source.with { access($0, F_OK) } == 0
                return (files.files[index].name, isThere ? try FileTree.readBytes(source) : [])
            })
    }

    // MARK: Copies

    /// Writes the files, with one damage or none, to a directory. An existing directory is replaced.
    package func write(_ change: FileChange?, to directory: String) throws {
        try FileTree.remove(directory)
        try FileTree.createDirectory(directory)
        let root = BytePath(directory)
        for (path, _) in directories { try FileTree.createDirectory(root.appending(path)) }
        for (index, file) in files.files.enumerated() {
            let bytes = change.flatMap { $0.file == index ? $0.applied(to: file.bytes) : nil } ?? file.bytes
            let first = root.appending(names[index][0])
            try FileTree.make(first, bytes, mode: modes[index])
            for name in names[index].dropFirst() { try FileTree.addName(root.appending(name), to: first) }
        }
        for (path, node) in nodes { try node.make(at: root.appending(path)) }
        // Last, and children before parents: permissions may forbid creating entries.
        for (path, mode) in directories.reversed() { try FileTree.setMode(mode, of: root.appending(path)) }
        try FileTree.setMode(rootMode, of: root)
    }
}
