import StrataFiles

@testable import StrataStorage

/// Damages a small store at one place after the other, and judges the result of opening and reading it.
///
/// Allowed are the exact state and a typed error. If the end of the log was damaged, an earlier state is allowed, too:
/// such damage looks like a crash before acknowledgement.
struct DamageSweep {
    enum Outcome: Hashable {
        case exact
        /// Open, read or check threw, by the error's name.
        case detected(String)
        /// A complete earlier state of the history, this number of commits back.
        case earlier(Int)
        case wrong(String)
    }

    struct Counts: CustomStringConvertible {
        var exact = 0
        var detected: [String: Int] = [:]
        var earlier = 0
        var problems: [String] = []
        var total: Int { exact + earlier + detected.values.reduce(0, +) + problems.count }

        var description: String {
            let errors = detected.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            return "\(total) places: exact \(exact), earlier \(earlier), \(errors)"
        }
    }

    let image: FileImages.Image
    private(set) var counts = Counts()

    init(_ image: FileImages.Image) { self.image = image }

    /// Where the last batch of the log starts; damage before it must not cost a commit.
    var lastGroup: Int { image.lastGroup }

    /// Opens files and reads everything in them.
    func judge(data: [UInt8], log: [UInt8]?, readOnly: Bool = false) -> Outcome {
        do {
            var damaged = image
            damaged.data = data
            damaged.log = log
            var options = try FileImages.options(on: FileImages.Disk(damaged), image.cipher)
            options.readOnly = readOnly
            let store = try Store.open(path: FileImages.path, options: options)
            // The file was empty: the open made a new store and reported it to the program.
            if store.damage.startedEmpty { return .detected("started empty") }
            let found = try StoreHistory.contents(store.snapshot().view)
            try store.checkInvariants()
            try store.close()
            if found == image.model { return .exact }
            for (back, state) in image.states.reversed().enumerated() where found == state { return .earlier(back) }
            return .wrong("a state that never was")
        } catch let error as StorageError {
            return .detected(Self.name(error))
        } catch {
            return .wrong("\(error)")
        }
    }

    private static func name(_ error: StorageError) -> String {
        switch error {
        case .corrupt(_, _, let reason): "corrupt \(reason.rawValue)"
        case .notAStore: "notAStore"
        case .unsupportedFormat: "unsupportedFormat"
        case .logMissing: "logMissing"
        case .logMismatch: "logMismatch"
        case .logOutdated: "logOutdated"
        case .logCorrupt: "logCorrupt"
        default: "\(error)"
        }
    }

    private mutating func note(_ outcome: Outcome, _ place: String, allowsEarlier: Bool) {
        switch outcome {
        case .exact: counts.exact += 1
        case .detected(let name): counts.detected[name, default: 0] += 1
        case .earlier(let back):
            if allowsEarlier { counts.earlier += 1 } else { counts.problems.append("\(place): \(back) commits lost") }
        case .wrong(let text): counts.problems.append("\(place): \(text)")
        }
    }

    mutating func flip(bit: Int, ofLog: Bool) {
        var data = image.data
        var log = image.log
        if ofLog { log?[bit / 8] ^= 1 << UInt8(bit % 8) } else { data[bit / 8] ^= 1 << UInt8(bit % 8) }
        note(
            judge(data: data, log: log), "\(ofLog ? "log" : "data") bit \(bit)",
            allowsEarlier: ofLog && bit / 8 >= lastGroup)
    }

    /// Zeroes a page. A page of the log may hold all batches from some point on.
    mutating func zero(page: Int, ofLog: Bool) {
        var data = image.data
        var log = image.log
        let count = ofLog ? log?.count ?? 0 : data.count
        for byte in (page * Format.pageSize)..<min((page + 1) * Format.pageSize, count) {
            if ofLog { log?[byte] = 0 } else { data[byte] = 0 }
        }
        note(
            judge(data: data, log: log), "\(ofLog ? "log" : "data") page \(page) zeroed",
            allowsEarlier: ofLog && page > 0)
    }

    mutating func cut(_ length: Int, ofLog: Bool) {
        let data = ofLog ? image.data : Array(image.data[..<length])
        let log = ofLog ? image.log.map { Array($0[..<length]) } : image.log
        note(judge(data: data, log: log), "\(ofLog ? "log" : "data") cut to \(length)", allowsEarlier: false)
    }

    /// Opens a data file with the log of another moment.
    mutating func pair(_ data: FileImages.Image, _ log: FileImages.Image, _ place: String, allowsEarlier: Bool) {
        note(judge(data: data.data, log: log.log), place, allowsEarlier: allowsEarlier)
    }
}
