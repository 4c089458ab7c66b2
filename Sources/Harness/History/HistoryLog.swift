/// The record of one running actor: a sequence of integers that can be written to a file as they come. The file of a
/// killed process ends with the intended operations of a transaction without its end: the fate is unknown.
///
/// Layout: for each transaction 1, actor, start, number of operations, and for each operation kind, key and value. Then
/// 2, end, time, number of operations that ran, number of words that follow, and for each read among these operations
/// its value, or the number of its elements and the elements. Reads of a transaction without the second part are left
/// out, since their values are not known. A file has words of 8 bytes, little-endian.
package struct HistoryLog: Sendable {
    package private(set) var words: [Int64] = []
    /// Of the running transaction.
    private var reads: [Int64] = []

    private enum Mark {
        static let intent: Int64 = 1
        static let end: Int64 = 2
    }

    /// An intended operation: the value of a read is not known yet.
    package struct Step: Sendable, Hashable {
        package var kind: History.Operation.Kind
        package var key: Int
        package var value: Int64

        package init(_ kind: History.Operation.Kind, _ key: Int, value: Int64 = 0) {
            self.kind = kind
            self.key = key
            self.value = value
        }
    }

    package init() {}

    package mutating func begin(actor: Int, at start: UInt64, _ steps: [Step]) {
        words += [Mark.intent, Int64(actor), Int64(bitPattern: start), Int64(steps.count)]
        for step in steps { words += [Int64(step.kind.rawValue), Int64(step.key), step.value] }
        reads.removeAll(keepingCapacity: true)
    }

    package mutating func read(_ value: Int64) { reads.append(value) }

    package mutating func read(_ list: [Int64]) {
        reads.append(Int64(list.count))
        reads += list
    }

    /// - Parameter done: number of steps that ran. A reader of the log drops the other steps if the fate is known, and
    /// keeps their writes if it is unknown.
    package mutating func end(_ end: History.End, at time: UInt64, done: Int) {
        words += [Mark.end, Int64(end.rawValue), Int64(bitPattern: time), Int64(done), Int64(reads.count)]
        words += reads
    }

    /// The words since the last call, to append to a file.
    package mutating func takeWords() -> [Int64] {
        defer { words.removeAll(keepingCapacity: true) }
        return words
    }

    // MARK: Reading

    /// Adds the transactions of some words to a history. An incomplete transaction has an unknown fate.
    ///
    /// Throws: `HistoryError.damagedLog` for words that no actor writes; transactions before them are added.
    package static func add(_ words: [Int64], to history: inout History) throws(HistoryError) {
        var place = 0
        while place + 4 <= words.count {
            guard words[place] == Mark.intent else { throw .damagedLog(word: place) }
            let (actor, start) = (Int(words[place + 1]), UInt64(bitPattern: words[place + 2]))
            let count = try Self.count(words, at: place + 3)
            place += 4
            guard count <= (words.count - place) / 3 else { return }
            var steps: [Step] = []
            for first in stride(from: place, to: place + count * 3, by: 3) { steps.append(try step(words, at: first)) }
            place += count * 3
            guard let outcome = try Outcome(words, at: place, steps) else {
                history.begin(actor: actor, at: start)
                for step in steps where !step.kind.isRead { add(step, to: &history) }
                history.end(.unknown, at: .max)
                return
            }
            place = outcome.next
            history.begin(actor: actor, at: start)
            let whole = outcome.end == .unknown ? steps[...] : steps.prefix(outcome.done)
            for (index, step) in whole.enumerated() {
                switch step.kind {
                case .read: if index < outcome.done { history.read(step.key, words[outcome.reads[index].lowerBound]) }
                case .readList: if index < outcome.done { history.readList(step.key, words[outcome.reads[index]]) }
                case .write, .append: add(step, to: &history)
                }
            }
            history.end(outcome.end, at: outcome.time)
        }
    }

    /// The second part of a transaction.
    private struct Outcome {
        let end: History.End
        let time: UInt64
        let done: Int
        /// By step that ran: the words of its read, empty for a write.
        private(set) var reads: [Range<Int>] = []
        /// The word after it.
        let next: Int

        /// nil where the words end too early.
        init?(_ words: [Int64], at place: Int, _ steps: [Step]) throws(HistoryError) {
            guard place < words.count else { return nil }
            guard words[place] == Mark.end else { throw .damagedLog(word: place) }
            guard place + 5 <= words.count else { return nil }
            guard let code = UInt8(exactly: words[place + 1]), let end = History.End(rawValue: code) else {
                throw .damagedLog(word: place + 1)
            }
            self.end = end
            time = UInt64(bitPattern: words[place + 2])
            done = try HistoryLog.count(words, at: place + 3)
            guard done <= steps.count else { throw .damagedLog(word: place + 3) }
            let readCount = try HistoryLog.count(words, at: place + 4)
            let first = place + 5
            guard readCount <= words.count - first else { return nil }
            next = first + readCount
            var word = first
            for step in steps.prefix(done) {
                if !step.kind.isRead {
                    reads.append(word..<word)
                    continue
                }
                guard word < next else { throw .damagedLog(word: place + 4) }
                let isList = step.kind == .readList
                let count = isList ? try HistoryLog.count(words, at: word) : 1
                if isList { word += 1 }
                guard count <= next - word else { throw .damagedLog(word: isList ? word - 1 : word) }
                reads.append(word..<(word + count))
                word += count
            }
            guard word == next else { throw .damagedLog(word: place + 4) }
        }
    }

    private static func count(_ words: [Int64], at place: Int) throws(HistoryError) -> Int {
        guard words[place] >= 0 else { throw .damagedLog(word: place) }
        return Int(words[place])
    }

    private static func step(_ words: [Int64], at place: Int) throws(HistoryError) -> Step {
        guard let code = UInt8(exactly: words[place]), let kind = History.Operation.Kind(rawValue: code) else {
            throw .damagedLog(word: place)
        }
        guard let key = Int32(exactly: words[place + 1]) else { throw .damagedLog(word: place + 1) }
        return Step(kind, Int(key), value: words[place + 2])
    }

    private static func add(_ step: Step, to history: inout History) {
        if step.kind == .write { history.write(step.key, step.value) } else { history.append(step.key, step.value) }
    }
}
