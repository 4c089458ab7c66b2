import Platform

/// The files that this process has open.
///
/// A POSIX lock belongs to a process: a query never reports the process's own locks, and closing any descriptor of a
/// file releases all of them. So before a file is opened, the process has to know whether another library has it open.
enum OwnDescriptors {
    /// Whether this process has the file of a path open. False if there is no such file, or the system does not list
    /// descriptors.
    static func hold(_ path: String) -> Bool {
        var wanted = stat()
        guard stat(path, &wanted) == 0, let list = opendir("/dev/fd") else { return false }
        defer { closedir(list) }
        while let entry = readdir(list) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let descriptor = Int32(name) else { continue }
            var found = stat()
            if fstat(descriptor, &found) == 0, found.st_dev == wanted.st_dev, found.st_ino == wanted.st_ino {
                return true
            }
        }
        return false
    }
}
