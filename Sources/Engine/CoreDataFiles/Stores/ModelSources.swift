#if SQLite
    import StrataFiles

    /// The sources of a store's model.
    package enum ModelSources {
        /// A compiled model: a `.mom` file, or a `.momd` folder's current version.
        /// - Throws: `wrongInput` for a missing file, or one that is not a model.
        package static func model(at path: String) throws(CoreDataError) -> CoreDataModel {
            var file = path
            if path.hasSuffix(".momd") || path.hasSuffix(".momd/") {
                file = try currentVersion(of: path.hasSuffix("/") ? String(path.dropLast()) : path)
            }
            guard let model = ModelArchive.model(try bytes(file), origin: .modelFile) else {
                throw CoreDataError(.wrongInput, "\(file) is no compiled model of Core Data (.mom)")
            }
            return model
        }

        /// A folder of versions names the current one in `VersionInfo.plist`.
        private static func currentVersion(of folder: String) throws(CoreDataError) -> String {
            guard let list = PropertyList(try bytes(folder + "/VersionInfo.plist")),
                let place = list.members(list.top)?["NSManagedObjectModel_CurrentVersionName"],
                case .string(let name) = list[place], !name.contains("/")
            else {
                throw CoreDataError(
                    .wrongInput,
                    "\(folder)/VersionInfo.plist does not say which version is current; name the .mom file itself")
            }
            return folder + "/" + name + ".mom"
        }

        /// The model that a store caches; nil with the reason if there is none.
        static func cached(
            _ file: SQLiteFile, _ catalog: StoreCatalog
        ) throws(CoreDataError) -> (model: CoreDataModel?, reason: String) {
            guard catalog.tables["Z_MODELCACHE"] != nil else { return (nil, "the store has no Z_MODELCACHE") }
            let row = try file.statement("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
            guard try row.step(), row.kind(0) == .data else { return (nil, "Z_MODELCACHE is empty") }
            let bytes = row.data(0)
            guard let archive = Inflate.bytes(bytes), let model = ModelArchive.model(archive, origin: .modelCache)
            else { return (nil, "Z_MODELCACHE is no compressed archive of a model, or it is damaged") }
            return (model, "")
        }

        /// All bytes of a small file that the user names.
        package static func bytes(_ path: String, limit: Int64 = 256 << 20) throws(CoreDataError) -> [UInt8] {
            do throws(FileError) {
                let file = try POSIXFileSystem().open(path, .readThroughLinks)
                defer { file.close() }
                let size = try file.size()
                guard size <= limit else { throw FileError(.read, path: path, errno: 27) }
                var bytes = [UInt8](repeating: 0, count: Int(size))
                var failure: FileError?
                let count = bytes.withUnsafeMutableBytes { buffer -> Int in
                    do throws(FileError) { return try file.read(into: buffer, at: 0) } catch {
                        failure = error
                        return 0
                    }
                }
                if let failure { throw failure }
                return Array(bytes[..<count])
            } catch {
                throw CoreDataError(.wrongInput, "\(error)")
            }
        }
    }
#endif
