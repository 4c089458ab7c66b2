import Harness
import Measuring
import RunRecords
import Seeds

/// The rate of the operations of an open loop.
struct KeyedPace: Sendable {
    /// Operations per second of all lanes together.
    var rate: Double
    var spacing: ArrivalSchedule.Spacing
    var seed: Seed

    /// Each lane has a schedule of its own, so that its requests depend only on the seed.
    func pacer(lane: Int, of lanes: Int) -> Pacer<SystemPacerClock> {
        Pacer(ArrivalSchedule(rate: rate / Double(lanes), spacing: spacing, seed: seed.derived(UInt64(lane))))
    }
}

/// The measurements of all lanes in one stretch of a case.
struct KeyedStretch: Sendable {
    var start: UInt64 = .max
    var end: UInt64 = 0
    var done = 0
    /// By operation: the time from when a request was sent to its answer.
    var service = [Histogram](repeating: Histogram(), count: KeyedOperation.allCases.count)
    /// By operation: the time from when a request was due to its answer. Empty in a closed loop.
    var response = [Histogram](repeating: Histogram(), count: KeyedOperation.allCases.count)
    var lateness = Histogram()
    /// The response time of the last operation, of the lane in which it was longest.
    var lastResponse: UInt64 = 0
    var answers = CommitAnswers()
    /// Operations per second of each lane.
    var rates: [Double] = []
    var complaint: String?

    mutating func merge(_ other: KeyedStretch) {
        start = min(start, other.start)
        end = max(end, other.end)
        done += other.done
        for place in service.indices {
            service[place].merge(other.service[place])
            response[place].merge(other.response[place])
        }
        lateness.merge(other.lateness)
        lastResponse = max(lastResponse, other.lastResponse)
        answers.merge(other.answers)
        rates += other.rates
        complaint = complaint ?? other.complaint
    }

    var seconds: Double { end > start ? Double(end - start) / 1e9 : 0 }
    var rate: Double { seconds > 0 ? Double(done) / seconds : 0 }

    static func all(_ histograms: [Histogram]) -> Histogram {
        var all = Histogram()
        for histogram in histograms { all.merge(histogram) }
        return all
    }
}

/// One thread's requests, a model of their effects, and the loop that sends them.
struct KeyedLane: Sendable {
    typealias LaneSession = any KeyedRowSession & TableSession

    private(set) var stream: RequestStream
    private(set) var model: KeyedModel
    private let row: @Sendable (Int) -> Table
    private var answers: [ReadDigest] = []

    init(_ stream: RequestStream, _ content: KeyedContent, row: @escaping @Sendable (Int) -> Table) {
        self.stream = stream
        model = KeyedModel(content, stream)
        self.row = row
    }

    /// Sends `count` requests. Neither the drawing of requests and of rows to insert, before `ready` is called, nor the
    /// check of the answers at the end is in the measured time.
    mutating func run(
        _ count: Int, on session: LaneSession, pace: KeyedPace?, deadline: UInt64, witness: IOWitness?,
        ready: () -> Void
    ) throws -> KeyedStretch {
        let requests = stream.take(count)
        let rows = requests.map { $0.operation == .insert ? row(Int($0.key)) : nil }
        answers = Array(repeating: ReadDigest(), count: count)
        var stretch = KeyedStretch()
        ready()
        stretch.start = MonotonicClock.now()
        var pacer = pace?.pacer(lane: stream.lane, of: stream.lanes)
        try send(requests, rows, on: session, stretch: &stretch, deadline: deadline, witness: witness, pacer: &pacer)
        if let pacer { stretch.lateness = pacer.lateness }
        stretch.end = MonotonicClock.now()
        stretch.rates = [stretch.rate]
        for place in 0..<stretch.done {
            let complaint = try model.take(requests[place], answers[place], row: rows[place])
            stretch.complaint = stretch.complaint ?? complaint
        }
        answers = []
        return stretch
    }

    /// Without a pacer a closed loop: sends the next request when the last one is answered. With a pacer an open loop:
    /// sends each request when it is due, or, if an earlier one takes longer, right after that one's answer.
    private mutating func send(
        _ requests: [KeyedRequest], _ rows: [Table?], on session: LaneSession, stretch: inout KeyedStretch,
        deadline: UInt64, witness: IOWitness?, pacer: inout Pacer<SystemPacerClock>?
    ) throws {
        for (place, request) in requests.enumerated() {
            let due = pacer?.next()
            let commit = request.operation.isChange ? witness?.beginCommit() : nil
            let begin = MonotonicClock.now()
            // Out of time: ends before this request is sent.
            if begin >= deadline { return }
            answers[place] = try Self.send(request, rows[place], on: session)
            let end = MonotonicClock.now()
            if let commit, let answer = witness?.endCommit(commit) { stretch.answers.count(answer) }
            stretch.service[request.operation.rawValue].record(end &- begin)
            stretch.done += 1
            guard let due else { continue }
            stretch.response[request.operation.rawValue].record(end &- due)
            stretch.lastResponse = end &- due
        }
    }

    private static func send(_ request: KeyedRequest, _ row: Table?, on session: LaneSession) throws -> ReadDigest {
        switch request.operation {
        case .read: return try session.readRow(request.key)
        case .scan: return try session.readRows(request.key..<(request.key + request.value))
        case .update: try session.setRow(request.key, to: request.value)
        case .insert: if let row { _ = try session.insertEach(row, latency: nil) }
        case .increment: return try session.incrementRow(request.key)
        }
        return ReadDigest()
    }
}
