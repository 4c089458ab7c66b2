internal import StrataFiles
internal import StrataStorage

/// Finds the id of an encrypted file's store if no header slot opens.
///
/// Both slots and the log's header have the id in plain text. From id and key follows the key check, which both slots
/// have, too. So one of the three ids and one of the two checks are enough. An id with one flipped bit is found as
/// well. If no check is readable, an id counts if a page opens under it.
struct SealedStoreSearch {
    private let path: String
    private let fileSystem: any FileSystem
    private let cipher: any Cipher
    /// Most pages to try to open under an id, if no key check proves it.
    private static let mostPages = 256

    init(_ path: String, _ fileSystem: any FileSystem, _ cipher: any Cipher) {
        self.path = path
        self.fileSystem = fileSystem
        self.cipher = cipher
    }

    /// - Parameter file: the data file, sealed.
    /// - Returns: nil if it cannot be found.
    /// - Throws: `wrongKey` if both slots say that the file is encrypted under another key.
    func run(in file: any File, _ written: WrittenPages) throws(StorageError) -> RandomID? {
        let slots = [0, 1].compactMap { traces(path, at: $0 * Format.pageSize) }
        var ids: [RandomID] = []
        for id in slots.map(\.storeID) + [traces(Store.logPath(path), at: 0)?.storeID].compactMap(\.self)
        where !ids.contains(id) {
            ids.append(id)
        }
        let checks = Set(slots.map(\.keyCheck))
        func isProven(_ id: RandomID) -> Bool { checks.contains(cipher.derived(for: id).keyCheck) }
        if let proven = ids.first(where: isProven) { return proven }
        for id in ids {
            for bit in 0..<64 as Range<UInt64> {
                let flipped = [RandomID(id.first ^ 1 << bit, id.second), RandomID(id.first, id.second ^ 1 << bit)]
                if let proven = flipped.first(where: isProven) { return proven }
            }
        }
        if let found = ids.first(where: { opens(file, $0, written) }) { return found }
        if slots.count == 2, slots[0] == slots[1] { throw .wrongKey(path: path) }
        return nil
    }

    /// The fields of 512 bytes, if they are a slot or a log's header; nil if they cannot be read.
    private func traces(_ path: String, at offset: Int) -> SealedSlot.Traces? {
        withUnsafeTemporaryAllocation(byteCount: Format.slotSize, alignment: 8) { buffer in
            do throws(FileError) {
                if try fileSystem.status(path)?.isRegularFile != true { return nil }
                let file = try fileSystem.open(path, .read)
                defer { file.close() }
                guard try file.read(into: buffer, at: Int64(offset)) == Format.slotSize else { return nil }
            } catch {
                return nil
            }
            return buffer.baseAddress.map { SealedSlot.Traces($0) }
        }
    }

    /// Whether any page opens under the store's id.
    private func opens(_ file: any File, _ id: RandomID, _ written: WrittenPages) -> Bool {
        StoreOptions.identify(file, as: id)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Format.pageSize, alignment: 16)
        defer { buffer.deallocate() }
        var pages = written
        var page = pages.next(from: Format.firstDataPage)
        for _ in 0..<Self.mostPages where page < pages.count {
            do throws(FileError) {
                if try file.read(into: buffer, at: Int64(page * Format.pageSize)) == Format.pageSize { return true }
            } catch {
                // Another page may be intact.
            }
            page = pages.next(from: page + 1)
        }
        return false
    }
}
