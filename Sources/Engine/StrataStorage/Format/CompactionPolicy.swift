/// When a data file is compacted.
package enum CompactionPolicy: Sendable {
    case never
    /// An open for writing calls the closure with the file's size and the bytes in use, if no other process has the
    /// store open. If the closure answers true, the open first replaces the file by a copy without free pages. If the
    /// disk has no room for the copy, the store opens as it is.
    case onLaunch(@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)
    /// In small background steps while the store is in use, whenever more than this share of the file, from 0 to 1, is
    /// free.
    case online(freeShare: Double)
}
