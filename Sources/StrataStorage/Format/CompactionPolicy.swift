/// When a file is made smaller.
package enum CompactionPolicy: Sendable {
    case never
    /// Asked once at open, when nobody else has the store open: bytes of the file, and bytes in use. True rewrites the
    /// file. Without space on the disk for a copy, or with somebody else there, the store opens as it is.
    case onLaunch(@Sendable (_ totalBytes: Int, _ usedBytes: Int) -> Bool)
    /// While the store is in use, in small steps in the background: whenever more than this share of the file, from 0
    /// to 1, is free.
    case online(freeShare: Double)
}
