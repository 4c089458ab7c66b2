import RunRecords
import Testing

@testable import LibraryEngine

/// Texts by which a library describes itself.
@Suite struct LibraryTextTests {
    @Test("settings are a name and a value each, in the order of the library")
    func settings() throws {
        let settings = try LibraryText.settings("cache = 1 MiB\n\n sync=fsync = yes\n")
        #expect(settings == [EngineSetting("cache", "1 MiB"), EngineSetting("sync", "fsync = yes")])
    }

    /// A record has each name once, and its reader refuses another one.
    @Test(
        "a setting whose name stands twice, or is one of Assay's, is refused",
        arguments: ["cache = 1\ncache = 2", "library = a", "ASSERTIONS = none", "cache", "= 1"])
    func refused(text: String) throws {
        let error = try #require(throws: LibraryTextError.self) { try LibraryText.settings(text) }
        #expect(error.message.contains("each NAME once"))
    }
}
