import Files
import Platform
import Testing

@Suite struct ScratchDirectoryTests {
    @Test("`removeAbandoned` keeps a directory in memory with a living owner, and one without the marker")
    func memory() throws {
        let temporary = try TemporaryDirectory()
        let parent = temporary.path
        let owned = try ScratchDirectory.make(in: parent)
        let abandoned: String
        do { abandoned = try ScratchDirectory.make(in: parent).name }
        try FileTree.createDirectory(parent + "/assay-scratch-unmarked")
        try FileTree.writeText(parent + "/assay-scratch-unmarked/mine", "mine")
        let foreign = parent + "/other"
        try FileTree.createDirectory(foreign)
        try DirectoryMarker(runID: "", entries: ["files"]).write(to: foreign)
        try #require(symlink(foreign, parent + "/assay-scratch-link") == 0)
        #expect(try ScratchDirectory.removeAbandoned(in: parent) == [abandoned])
        let names = [owned.name, "assay-scratch-link", "assay-scratch-unmarked", "other"]
        #expect(try FileTree.names(in: parent) == names.sorted())
    }
}
