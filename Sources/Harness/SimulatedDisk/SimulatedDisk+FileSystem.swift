import FaultModel
import Platform
import StrataFiles
import Synchronization

extension SimulatedDisk {
    static let device: UInt64 = 0x51

    package func open(_ path: String, _ mode: OpenMode) throws(FileError) -> any File {
        let thread = Self.currentThread
        let role = settings.role(path)
        settings.beforeOperation?(.create)
        let (inode, handle) = try state.withLock { (state) throws(FileError) -> (Inode, Int) in
            state.lastHandle += 1
            if let found = state.model.current.entries[path] {
                if mode.isNew { throw FileError(.open, path: path, errno: EEXIST) }
                return (found, state.lastHandle)
            }
            if !mode.creates { throw FileError(.open, path: path, errno: ENOENT) }
            return (try state.create(path, role: role, thread: thread), state.lastHandle)
        }
        let file = OpenFile(path: path, inode: inode, role: role)
        return SimulatedFile(self, file, handle: handle, isWritable: !mode.isReadOnly)
    }

    package func status(_ path: String) throws(FileError) -> FileStatus? {
        state.withLock { state in
            guard let inode = state.model.current.entries[path] else { return nil }
            return FileStatus(size: state.contents(inode).size, device: Self.device, inode: inode.number)
        }
    }

    package func availableBytes(beside path: String) throws(FileError) -> Int64? {
        state.withLock { $0.space.available }
    }

    package func remove(_ path: String) throws(FileError) {
        let thread = Self.currentThread
        let role = settings.role(path)
        settings.beforeOperation?(.remove)
        try state.withLock { (state) throws(FileError) in try state.remove(path, role: role, thread: thread) }
    }

    package func rename(_ path: String, to destination: String) throws(FileError) {
        let thread = Self.currentThread
        let role = settings.role(path)
        settings.beforeOperation?(.rename)
        try state.withLock { (state) throws(FileError) in
            try state.rename(path, to: destination, role: role, thread: thread)
        }
    }

    package func renameNew(_ path: String, to destination: String) throws(FileError) {
        let thread = Self.currentThread
        let role = settings.role(path)
        settings.beforeOperation?(.rename)
        try state.withLock { (state) throws(FileError) in
            if state.model.current.entries[destination] != nil {
                throw FileError(.rename, path: destination, errno: EEXIST)
            }
            try state.rename(path, to: destination, role: role, thread: thread)
        }
    }

    package func syncDirectory(of path: String) throws(FileError) {
        let thread = Self.currentThread
        settings.beforeOperation?(.syncDirectory)
        try state.withLock { (state) throws(FileError) in
            try state.syncDirectory(of: path, thread: thread)
        }
    }
}
