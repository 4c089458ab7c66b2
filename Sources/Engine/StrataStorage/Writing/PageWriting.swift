/// Writes the pages of an open transaction.
///
/// Concurrency: guarded by the write gate.
protocol PageWriting: AnyObject {
    /// Writes whole pages, unsynced. No reader reaches them yet.
    func writePages(_ bytes: UnsafeRawBufferPointer, at page: Int) throws(StorageError)

    /// Frees pages that only a checkpoint holds, if possible.
    /// - Returns: whether fewer pages are held now.
    func releaseHeldPages() throws(StorageError) -> Bool
}
