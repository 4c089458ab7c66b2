import FaultModel
import Files
import Harness
import SimulatedDisk

extension CaseContext {
    /// As one trial of the case, checks the nonces of everything that was written to the simulated disk of an encrypted
    /// database, including data that was overwritten and files that were removed.
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

    /// What is wrong with the nonces in the files of a directory in which a process was killed, including files that it
    /// had only begun. nil if nothing is wrong, or if the database is not encrypted.
    func sealFault(inDirectory directory: String) throws -> String? {
        guard var ledger = try sealLedger() else { return nil }
        for name in try FileTree.names(in: directory) where FileRole.byName(name) != .lock {
            let path = directory + "/" + name
            if FileTree.kind(path) == .file { ledger.add(try FileTree.readBytes(path), of: path) }
        }
        return ledger.finding
    }
}
