import Files
import Harness
import RunRecords

extension CaseContext {
    /// Opens the database as a session of the type that the scenario needs.
    ///
    /// Throws: `EngineError`; `HarnessError` when the session lacks a capability that the engine declares.
    func open<Role>(_ location: DatabaseLocation, as role: Role.Type) throws -> Role {
        try Self.session(engine, location, settings, as: role)
    }

    /// The same as ``open(_:as:)``, for a thread of a scenario, which has no access to the context.
    static func session<Role>(
        _ engine: any Engine, _ location: DatabaseLocation, _ settings: EngineSettings, as role: Role.Type
    ) throws -> Role {
        let session = try engine.open(location, settings: settings)
        guard let session = session as? Role else {
            throw HarnessError("\(engine.name) declares a capability that its session has not: \(role)")
        }
        return session
    }

    /// Opens the database, reads everything and compares it with the expected content, as one trial of the case.
    ///
    /// As another trial, the nonces of an encrypted database are checked before it is opened.
    func judgeContent(_ address: String, at location: DatabaseLocation, expected: ExactOracle) {
        do { try judgeSeals(at: location, address: "\(address), seals") } catch {
            report.inconclusive("the files could not be looked at: \(error)")
        }
        let (outcome, detail) = DamageOracle.judge(
            engine: engine, settings: settings, location: location, expected: expected)
        // No file was damaged: an error is as wrong as a wrong value.
        report.add(Trial(address: FaultAddress(text: address), outcome: outcome, detail: detail))
    }

    /// Bytes of all files of a closed database that have one of these roles.
    func fileBytes(at location: DatabaseLocation, roles: Set<DatabaseFile.Role> = [.data, .log]) throws -> Int {
        try engine.files(at: location).filter { roles.contains($0.role) }
            .reduce(0) { $0 + (try FileTree.size($1.path)) }
    }
}
