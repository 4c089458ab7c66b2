import Files
import Harness

/// Copies of a closed database with one flipped bit, in a page of rows that an open does not read.
///
/// Such a page is found by trial: with the bit flipped, the database still opens and closes without an error, and a
/// full read reports damage.
struct DamagedCopy {
    /// The byte and its file.
    let flipped: String
    private let files: [(name: String, bytes: [UInt8])]
    private let directory: String

    /// The number of pages of a file that are tried, evenly spread, and the position of the bit in them.
    private static let tries = 32
    private static let offset = 1_000

    /// nil where no such page was found. The copies are in a directory of their own inside that of the case.
    static func find(_ context: CaseContext, of location: DatabaseLocation) throws -> DamagedCopy? {
        let sound = try FixtureFiles(context.engine, at: location).files
        let expected = ExactOracle(try context.tables())
        let directory = try context.emptyLocation("spoilt").directory
        for file in sound.indices {
            let pages = sound[file].bytes.count / DamageSweep.pageBytes
            let tried = Set((0..<tries).map { (2 * $0 + 1) * pages / (2 * tries) })
            // The first page stays intact: a database that is refused as no database has not been checked.
            for page in tried.sorted() where page > 0 {
                var files = sound
                let byte = page * DamageSweep.pageBytes + offset
                files[file].bytes[byte] ^= 1
                let copy = DamagedCopy(
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

    /// A copy that was never opened, in a directory named `name`: an engine may remember a copy that it opened before.
    func place(_ name: String) throws -> DatabaseLocation {
        let place = directory + "/" + name
        try FileTree.createDirectory(place)
        for file in files { try FileTree.writeBytes(place + "/" + file.name, file.bytes) }
        return DatabaseLocation(directory: place)
    }
}
