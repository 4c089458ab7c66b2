import Harness
import RunRecords

/// Copies of a closed database with one flipped bit, in a page that holds rows and that an open does not read.
///
/// Such a page is found by trying: with the bit flipped, the database still opens and closes without an error, and a
/// read of everything reports damage.
struct SpoiltCopy {
    /// The byte and its file.
    let flipped: String
    private let files: [(name: String, bytes: [UInt8])]
    private let directory: String

    /// How many pages of a file are tried, evenly spread, and where in them the bit is.
    private static let tries = 32
    private static let offset = 1_000

    /// nil where no such page was found. The copies stand in a directory of their own inside that of the case.
    static func find(_ context: CaseContext, of location: DatabaseLocation) throws -> SpoiltCopy? {
        let sound = try FixtureFiles(context.engine, at: location).files
        let expected = ExactOracle(try context.tables())
        let directory = try context.emptyLocation("spoilt").directory
        for file in sound.indices {
            let pages = sound[file].bytes.count / DamageSweep.pageBytes
            let tried = Set((0..<tries).map { (2 * $0 + 1) * pages / (2 * tries) })
            // The first page is left as it is: a database that is not recognised has not been checked.
            for page in tried.sorted() where page > 0 {
                var files = sound
                let byte = page * DamageSweep.pageBytes + offset
                files[file].bytes[byte] ^= 1
                let copy = SpoiltCopy(
                    flipped: "byte \(byte) of \(files[file].name)", files: files, directory: directory)
                if try copy.opens(context), try copy.isNoticed(context, expected) { return copy }
            }
        }
        return nil
    }

    private func opens(_ context: CaseContext) throws -> Bool {
        let place = try place("opened \(flipped)")
        do throws(EngineError) {
            try context.open(place).close()
        } catch {
            return false
        }
        return true
    }

    private func isNoticed(_ context: CaseContext, _ expected: ExactOracle) throws -> Bool {
        let judged = DamageOracle.judge(
            engine: context.engine, settings: context.settings, location: try place("read \(flipped)"),
            expected: expected)
        return judged.outcome == .detectedAtRead
    }

    /// A copy that nobody has opened, in a directory of that name: what an engine remembers of another one does not
    /// count.
    func place(_ name: String) throws -> DatabaseLocation {
        let place = directory + "/" + name
        try FileTree.createDirectory(place)
        for file in files { try FileTree.writeBytes(place + "/" + file.name, file.bytes) }
        return DatabaseLocation(directory: place)
    }
}
