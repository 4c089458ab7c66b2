import Files
import RunRecords

/// Records the nonces of all sealed units that it saw in files, and finds contents that are not sealed.
///
/// An engine that seals two texts with one key and one nonce reveals both. The ledger cannot see which key the engine
/// used, and need not: the engine draws nonces at random, so the ledger reports two equal ones under any keys. A unit
/// that the ledger reads again, unchanged and at its place, is not a second use.
package struct SealLedger {
    private struct Place: Equatable {
        var path: String
        var offset: Int
        var tag: [UInt8]
    }

    private let engine: any EncryptingEngine
    /// Texts of the database. None of them may appear in its files.
    private let secrets: [[UInt8]]
    private var places: [[UInt8]: Place] = [:]
    /// Number of units seen.
    package var count: Int { places.count }
    /// The first fault that was found; nil if there is none.
    package private(set) var fault: String?

    package init(_ engine: any EncryptingEngine, secrets: [String]) {
        self.engine = engine
        self.secrets = secrets.map { Array($0.utf8) }
    }

    /// Checks all bytes of a file, or the bytes of one write.
    package mutating func add(_ bytes: [UInt8], of path: String, at offset: Int = 0) {
        guard fault == nil else { return }
        var here: [[UInt8]: Int] = [:]
        for unit in engine.sealedUnits(in: bytes, of: path, at: offset) {
            let place = Place(path: path, offset: unit.offset, tag: unit.tag)
            let known = places.updateValue(place, forKey: unit.nonce)
            // Two units in one call are different units, even if their bytes are equal.
            if let other = here.updateValue(unit.offset, forKey: unit.nonce) {
                fault = "bytes \(other) and \(unit.offset) of \(path) are sealed under one nonce"
            } else if let known, known != place {
                let isSamePlace = known.offset == place.offset && known.path == path
                fault =
                    isSamePlace
                    ? "byte \(unit.offset) of \(path) was sealed again, with other contents, under its nonce"
                    : "byte \(known.offset) of \(known.path) and byte \(unit.offset) of \(path) have one nonce"
            }
            if fault != nil { return }
        }
        for secret in secrets where Self.contains(bytes, secret) {
            let text = String(decoding: secret, as: UTF8.self)
            fault = "\(text) can be read in \(path), from byte \(offset) on: it is not sealed"
            return
        }
    }

    /// Checks the files of a database, except those for coordination between processes.
    package mutating func add(_ engine: any Engine, at location: DatabaseLocation) throws {
        for file in engine.files(at: location) where file.role != .lock {
            add(try FileTree.readBytes(file.path), of: file.path)
        }
    }

    /// The fault that was found, or that no sealed unit was seen at all; nil if all is right.
    package var finding: String? {
        fault ?? (count == 0 ? "nothing in the files of an encrypted database is sealed" : nil)
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first, part.count <= bytes.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            for start in 0...(bytes.count - part.count)
            where bytes[start] == first && bytes[start..<(start + part.count)].elementsEqual(part) {
                return true
            }
            return false
        }
    }
}

extension CaseContext {
    /// A ledger for the case's database; nil if it is not encrypted.
    ///
    /// - Parameter secrets: texts of the database; nil to take some of the case's data set.
    package func sealLedger(secrets: [String]? = nil) throws -> SealLedger? {
        guard settings.encryptionKey != nil, let engine = engine as? any EncryptingEngine else { return nil }
        return SealLedger(engine, secrets: try secrets ?? Self.secrets(try tables()))
    }

    /// Texts of the data set that are too long to appear in a sealed file by accident.
    package static func secrets(_ tables: TableSet) -> [String] {
        let main = tables.main
        guard main.rowCount > 0 else { return [] }
        return main.columns.flatMap { column -> [String] in
            guard case .text(let texts) = column.values else { return [] }
            return [0, main.rowCount / 2, main.rowCount - 1].map { texts[$0] }.filter { $0.utf8.count >= 10 }
        }
    }

    /// Checks the files of an encrypted database while no process writes to it, as one trial of the case.
    package func judgeSeals(at location: DatabaseLocation, address: String = "seals") throws {
        guard var ledger = try sealLedger() else { return }
        try ledger.add(engine, at: location)
        add(ledger, address: address)
    }

    /// The fault in the files of a database; nil if there is none.
    package func sealFault(at location: DatabaseLocation) throws -> String? {
        guard var ledger = try sealLedger() else { return nil }
        try ledger.add(engine, at: location)
        return ledger.finding
    }

    /// Checks files that were read already, as one trial of the case.
    package func judgeSeals(_ files: [(path: String, bytes: [UInt8])], address: String = "seals") throws {
        guard var ledger = try sealLedger() else { return }
        for file in files { ledger.add(file.bytes, of: file.path) }
        add(ledger, address: address)
    }

    package func add(_ ledger: SealLedger, address: String = "seals") {
        let fault = ledger.finding
        report.add(
            Trial(
                address: FaultAddress(text: address), outcome: fault == nil ? .correct : .silentlyWrong,
                detail: fault ?? ""))
    }
}
