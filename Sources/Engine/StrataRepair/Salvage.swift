package import StrataFiles
package import StrataStorage

/// Copies everything that still verifies from a damaged store to a new one.
package enum Salvage {
    /// Writes the readable contents of the store at `path` to a new store at `destination`, which appears whole or not
    /// at all. The damaged store and its log are not changed.
    ///
    /// - Returns: the recovered and the lost contents.
    /// - Throws: `notAStore` if no part of a store is found; `keyRequired`, `wrongKey`, `notEncrypted`; `inUse`; `file`
    ///   with EEXIST if the destination exists; `noSpace`; `unsound` if the new store would break a rule of the format
    ///   even without the log.
    /// - Complexity: reads the file once, twice if branches are lost, and the new file once; memory for the longest
    ///   transaction, for the largest collection, and for a note per row group.
    package static func run(
        from path: String, to destination: String, fileSystem: any FileSystem = POSIXFileSystem(),
        options: SalvageOptions = SalvageOptions()
    ) throws(StorageError) -> SalvageReport {
        let unfinished = destination + ".salvaging"
        do throws(FileError) {
            if try fileSystem.status(destination) != nil { throw FileError(.open, path: destination, errno: 17) }
            if try fileSystem.status(path) == nil { throw FileError(.open, path: path, errno: 2) }
        } catch {
            throw StorageError(error)
        }
        let survey = try SalvageSurvey(try SalvageSource(path, fileSystem, options))
        do throws(StorageError) {
            return try write(
                survey, path, unfinished: unfinished, to: destination, fileSystem: fileSystem, options: options)
        } catch {
            guard case .unsound = error, survey.log != nil else { throw error }
        }
        // The log contradicts the pages. The state before the log is better than none.
        var withoutLog = options
        withoutLog.ignoresLog = true
        let again = try SalvageSurvey(try SalvageSource(path, fileSystem, options))
        return try write(
            again, path, unfinished: unfinished, to: destination, fileSystem: fileSystem, options: withoutLog)
    }

    /// Writes the new store, reads it back, and renames it to its path.
    private static func write(
        _ survey: SalvageSurvey, _ path: String, unfinished: String, to destination: String,
        fileSystem: any FileSystem, options: SalvageOptions
    ) throws(StorageError) -> SalvageReport {
        try removeUnfinished(unfinished, fileSystem)
        var plain = StoreOptions(fileSystem: fileSystem, durability: .none)
        plain.limits = options.limits
        plain.cipher = options.cipher
        plain.madeLike = path
        let store = try Store.openPlain(path: unfinished, options: plain, isAlone: true)
        do throws(StorageError) {
            let report = try SalvageWriter(survey, store, options).write()
            try StoreVerification(of: store).readBack(path)
            try store.close()
            do throws(FileError) {
                try fileSystem.rename(unfinished, to: destination)
                try fileSystem.syncDirectory(of: destination)
            } catch {
                throw StorageError(error)
            }
            return report
        } catch {
            // Errors of the clean-up are dropped: the caller reports the first one.
            do throws(StorageError) { try store.close() } catch {}
            do throws(StorageError) { try removeUnfinished(unfinished, fileSystem) } catch {}
            throw error
        }
    }

    /// The report that ``run(from:to:fileSystem:options:)`` would give. This reads and verifies every node of the
    /// newest state, and writes nothing. It does not count links to lost rows.
    package static func examine(
        _ path: String, fileSystem: any FileSystem = POSIXFileSystem(), options: SalvageOptions = SalvageOptions()
    ) throws(StorageError) -> SalvageReport {
        let survey = try SalvageSurvey(try SalvageSource(path, fileSystem, options))
        var counted = SalvageCount(survey, options)
        for table in survey.schema.tables {
            try counted.read(table) { (_, _, _) throws(StorageError) in true }
        }
        return counted.finished()
    }

    private static func removeUnfinished(
        _ path: String, _ fileSystem: any FileSystem
    ) throws(StorageError) {
        do throws(FileError) {
            for name in [path, Store.logPath(path)] where try fileSystem.status(name) != nil {
                try fileSystem.remove(name)
            }
        } catch {
            throw StorageError(error)
        }
    }
}
