import StrataFiles
import StrataRepair

@testable import StrataStorage
@testable import StrataStorageTests

/// A store in memory, salvaged from bytes, opened and checked once.
enum SalvagedStore {
    static var tiny: SalvageOptions {
        var settings = SalvageOptions()
        settings.limits = .tiny
        return settings
    }

    /// - Parameter look: inspects the salvaged store, which is closed afterwards.
    static func from<Found>(
        _ data: [UInt8], log: [UInt8]? = nil, settings: SalvageOptions = Self.tiny,
        _ look: (ReadView, SalvageReport) throws -> Found
    ) throws -> (report: SalvageReport, found: Found) {
        let disk = FileImages.Disk()
        try disk.put(data, at: FileImages.path)
        if let log { try disk.put(log, at: Store.logPath(FileImages.path)) }
        let report = try Salvage.run(from: FileImages.path, to: "new", fileSystem: disk, options: settings)
        let store = try Store.open(path: "new", options: FileImages.options(on: disk, settings.cipher))
        defer { do { try store.close() } catch {} }
        try store.checkInvariants()
        return (report, try look(store.snapshot().view, report))
    }
}
