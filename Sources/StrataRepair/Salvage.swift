package import StrataFiles
package import StrataStorage

/// Gets everything that still verifies out of a damaged store, into a new one.
package enum Salvage {
    /// Writes what can be read of the store at `path` into a new store at `destination`, which appears whole or not at
    /// all. The damaged store, and its log, stay as they are.
    ///
    /// - Returns: what was recovered, and what is lost.
    /// - Throws: `notAStore` when nothing of a store can be found; `keyRequired`, `wrongKey`, `notEncrypted`; `inUse`;
    ///   `file` with EEXIST when something stands at the destination; `noSpace`; `unsound` when what would be written
    ///   breaks a rule of the format, without the log as well.
    /// - Complexity: reads the file once, twice where branches are lost, and what was written once; memory for the
    ///   longest transaction, for the largest collection, and for a note per group of rows.
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
            return try write(survey, path, unfinished, to: destination, fileSystem, options)
        } catch {
            guard case .unsound = error, survey.log != nil else { throw error }
        }
        // What the log says contradicts what there is: what stands in front of it is better than nothing.
        var withoutLog = options
        withoutLog.ignoresLog = true
        let again = try SalvageSurvey(try SalvageSource(path, fileSystem, options))
        return try write(again, path, unfinished, to: destination, fileSystem, withoutLog)
    }

    /// Writes the new store, reads it back, and lets it have its name.
    private static func write(
        _ survey: SalvageSurvey, _ path: String, _ unfinished: String, to destination: String,
        _ fileSystem: any FileSystem, _ options: SalvageOptions
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
            // The first failure is what the caller has to hear about.
            do throws(StorageError) { try store.close() } catch {}
            do throws(StorageError) { try removeUnfinished(unfinished, fileSystem) } catch {}
            throw error
        }
    }

    /// What ``run(from:to:fileSystem:options:)`` would report, with every node of the newest state read and verified;
    /// nothing is written. Links to lost rows are not counted.
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
