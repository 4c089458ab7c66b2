/// Pages of a data file, from its start.
struct FileExtent: Equatable {
    /// That the file has room for.
    var pages: Int
    /// Behind the last page that a version may have: the rest of the file is room to grow.
    var contents: Int

    /// As one word.
    var bits: UInt64 { UInt64(UInt32(clamping: pages)) | UInt64(UInt32(clamping: contents)) << 32 }

    init(pages: Int, contents: Int) { (self.pages, self.contents) = (pages, contents) }

    init(bits: UInt64) {
        pages = Int(UInt32(truncatingIfNeeded: bits))
        contents = Int(bits >> 32)
    }
}
