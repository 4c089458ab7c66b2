import FaultModel
import Harness
import SimulatedDisk

extension CaseContext {
    /// Compares the nonces of all that was written to a simulated disk, of an encrypted database, as one trial of the
    /// case: those as well of what was written over since, and of files that are gone.
    ///
    /// - Parameter secrets: texts of the database that must not be readable in any write.
    func judgeSeals(on disk: SimulatedDisk, secrets: [String]) throws {
        guard var ledger = try sealLedger(secrets: secrets) else { return }
        var paths: [Inode: String] = [:]
        for record in disk.trace {
            switch record.action {
            case .create(let path, let inode), .link(let path, let inode): paths[inode] = path
            case .rename(let path, let destination):
                for (inode, known) in paths where known == path { paths[inode] = destination }
            case .write(let inode, let offset, let bytes):
                guard let path = paths[inode], FileRole.byName(path) != .lock else { continue }
                ledger.add(bytes, of: path, at: Int(offset))
            default: break
            }
        }
        add(ledger)
    }
}
