import FaultModel
import Harness
import SimulatedDisk

extension CaseContext {
    /// Checks the nonces of everything written to the simulated disk of an encrypted database, as one trial of the
    /// case: also of overwritten data and of removed files.
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
