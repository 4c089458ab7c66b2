internal import StrataFiles

// A change of everything - a migration of several steps, a repair - is made on a copy beside the store, and the copy
// takes the store's place when it is done. At any moment the path leads to the old contents or to the new ones.

extension Store {
    /// Opens a store that nobody else has open, and keeps everybody else out.
    /// - Throws: `inUse` when somebody has it open, and as ``open(path:options:)``.
    package static func openAlone(path: String, options: StoreOptions) throws(StorageError) -> Store {
        try openPlain(path: path, options: options, isAlone: true)
    }

    /// Puts the closed store at `other` in the place of this one, which was opened alone, and closes this one.
    ///
    /// By a rename and a sync of the directory, while the old file is still locked.
    package func replace(by other: String) throws(StorageError) {
        try close { () throws(FileError) in
            try fileSystem.rename(other, to: path)
            try fileSystem.syncDirectory(of: path)
        }
    }
}
