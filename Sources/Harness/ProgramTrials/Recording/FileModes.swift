import FaultModel

/// Permissions of files and directories that differ from the usual ones.
package struct FileModes: Sendable, Equatable {
    package static let usualFile: UInt32 = 0o644
    package static let usualDirectory: UInt32 = 0o755

    private var files: [Inode: UInt32] = [:]
    private var directories: [String: UInt32] = [:]

    package init() {}

    package subscript(file: Inode) -> UInt32 {
        get { files[file] ?? Self.usualFile }
        set { files[file] = newValue & 0o7777 == Self.usualFile ? nil : newValue & 0o7777 }
    }

    /// By its path; `.` is the watched directory.
    package subscript(directory path: String) -> UInt32 {
        get { directories[path] ?? Self.usualDirectory }
        set { directories[path] = newValue & 0o7777 == Self.usualDirectory ? nil : newValue & 0o7777 }
    }
}

/// A change of permissions, and the number of operations before it. Like the creation of a directory it counts as
/// durable at once.
package struct ModeChange: Sendable {
    package enum Subject: Sendable {
        case file(Inode)
        case directory(String)
    }

    package var operations: Int
    package var subject: Subject
    package var mode: UInt32

    package func apply(to modes: inout FileModes) {
        switch subject {
        case .file(let inode): modes[inode] = mode
        case .directory(let path): modes[directory: path] = mode
        }
    }
}
