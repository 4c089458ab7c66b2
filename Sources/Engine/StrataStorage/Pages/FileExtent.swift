/// Pages of a data file, from its start.
struct FileExtent: Equatable {
    /// Size of the file.
    var pages: Int
    /// End of the pages that versions may use; the file beyond it is space to grow.
    var contents: Int

    /// Packed into one word.
    var bits: UInt64 { UInt64(UInt32(clamping: pages)) | UInt64(UInt32(clamping: contents)) << 32 }

    init(pages: Int, contents: Int) { (self.pages, self.contents) = (pages, contents) }

    init(bits: UInt64) {
        pages = Int(UInt32(truncatingIfNeeded: bits))
        contents = Int(bits >> 32)
    }
}
