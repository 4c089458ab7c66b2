import JSONText
import RunRecords

/// The measurements of a run in the JSON format of chrome://tracing, which Perfetto reads: a track per engine, a slice
/// per measurement.
///
/// A run does not record when a measurement began. So the slices of a track follow one another in the order of rounds
/// and cases, and only their lengths are real.
struct TraceExport {
    let exported: ExportedRun

    var json: JSONValue {
        let run = exported.run
        let engines = RunDigest.unique(run.results.map(\.test.engine))
        var events = [
            event("process_name", phase: "M", thread: 0, [JSONMember("name", .string("assay \(run.header.id)"))])
        ]
        for (index, engine) in engines.enumerated() {
            events.append(
                event("thread_name", phase: "M", thread: index + 1, [JSONMember("name", .string(engine))]))
            events += slices(of: engine, thread: index + 1)
        }
        return .object([
            JSONMember("traceEvents", .array(events)), JSONMember("displayTimeUnit", .string("ms")),
            JSONMember(
                "otherData",
                .object([
                    JSONMember("run", .string(run.header.id)), JSONMember("commit", .string(run.header.commit)),
                    JSONMember("places", .string("one after the other; when each began is not kept")),
                ])),
        ])
    }

    private func slices(of engine: String, thread: Int) -> [JSONValue] {
        let own = exported.run.results.filter { $0.test.engine == engine }
            .flatMap { exported.run.measurements(of: $0.test.id) }
        let ordered = own.enumerated().sorted {
            ($0.element.turn.round, $0.offset) < ($1.element.turn.round, $1.offset)
        }
        var time = 0.0
        return ordered.map { _, result in
            let duration = Double(result.durationNanoseconds) / 1e3
            defer { time += duration }
            var arguments = [
                JSONMember("case", .string(result.test.id)), JSONMember("verdict", .string(result.verdict.rawValue)),
                JSONMember("round", .integer(result.turn.round)),
            ]
            if result.turn.side == .control { arguments.append(JSONMember("side", .string("control"))) }
            return event(
                exported.name(result.test), phase: "X", thread: thread, arguments,
                [
                    JSONMember("cat", .string(result.test.family.rawValue)), JSONMember("ts", .real(time)),
                    JSONMember("dur", .real(duration)),
                ])
        }
    }

    private func event(
        _ name: String, phase: String, thread: Int, _ arguments: [JSONMember], _ more: [JSONMember] = []
    ) -> JSONValue {
        .object(
            [JSONMember("name", .string(name)), JSONMember("ph", .string(phase))] + more + [
                JSONMember("pid", .integer(1)), JSONMember("tid", .integer(thread)),
                JSONMember("args", .object(arguments)),
            ])
    }
}
