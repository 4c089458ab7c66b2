/// When a data file is compacted.
package enum CompactionPolicy: Sendable {
    case never
    /// Asked once at open, if the store is not open elsewhere, with the file's size and the bytes in use. True rewrites
    /// the file. If the disk has no room for a copy, or another process has the store open, the store opens as it is.
    case onLaunch(@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)
    /// In small background steps while the store is in use, whenever more than this share of the file, from 0 to 1, is
    /// free.
    case online(freeShare: Double)
}
