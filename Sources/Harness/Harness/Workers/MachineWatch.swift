import Measuring
import RunRecords

/// Measures the load of the machine while a case runs, which may disturb the figures of the case.
///
/// All figures are of the whole machine: they say something about a case only if no other case runs at the time.
struct MachineWatch {
    private struct Reading {
        /// Time of all processors: in programs and in the kernel, and taken by the hypervisor for other machines.
        var busyNanoseconds: UInt64 = 0
        var stolenNanoseconds: UInt64 = 0
        /// Time during which at least one task waited for a processor, or for a disk.
        var processorPressure: UInt64?
        var diskPressure: UInt64?
    }

    private let start: Reading

    init() {
        start = Self.read()
    }

    /// The figures since the watch began, labelled as those of the whole case. Figures that the kernel does not give
    /// are left out.
    func samples(of end: WorkerEnd) -> [Sample] {
        let now = Self.read()
        let busy = now.busyNanoseconds &- start.busyNanoseconds
        let others = busy > end.processorNanoseconds ? busy - end.processorNanoseconds : 0
        var figures: [(Metric, Double)] = [
            (.othersProcessorMilliseconds, Double(others) / 1e6),
            (.stolenMilliseconds, Double(now.stolenNanoseconds &- start.stolenNanoseconds) / 1e6),
            (.involuntarySwitches, Double(end.involuntarySwitches)),
        ]
        if let before = start.processorPressure, let after = now.processorPressure {
            figures.append((.processorPressureMilliseconds, Double(after &- before) / 1e6))
        }
        if let before = start.diskPressure, let after = now.diskPressure {
            figures.append((.diskPressureMilliseconds, Double(after &- before) / 1e6))
        }
        return figures.map { Sample($0.0, $0.1, label: "whole case") }
    }

    private static func read() -> Reading {
        var reading = Reading()
        // cpu user nice system idle iowait irq softirq steal .., in hundredths of a second
        let line = ProcessFile.text("/proc/stat").prefix { $0 != "\n" }
        let ticks = line.split(separator: " ").dropFirst().compactMap { UInt64($0) }
        if ticks.count >= 8 {
            let tick: UInt64 = 10_000_000
            reading.busyNanoseconds = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) * tick
            reading.stolenNanoseconds = ticks[7] * tick
        }
        reading.processorPressure = pressure("/proc/pressure/cpu")
        reading.diskPressure = pressure("/proc/pressure/io")
        return reading
    }

    /// The total of the line `some avg10=.. avg60=.. avg300=.. total=MICROSECONDS`.
    private static func pressure(_ path: String) -> UInt64? {
        let line = ProcessFile.text(path).prefix { $0 != "\n" }
        let total = line.split(separator: " ").last { $0.hasPrefix("total=") }
        return total.flatMap { UInt64($0.dropFirst("total=".count)) }.map { $0 * 1_000 }
    }
}

extension Metric {
    /// Processor time of all other programs on the machine.
    static let othersProcessorMilliseconds = Metric("others_cpu_ms", unit: "ms", .neutral, .measured)
    /// Processor time that the hypervisor gave to other machines.
    static let stolenMilliseconds = Metric("steal_ms", unit: "ms", .neutral, .measured)
    static let involuntarySwitches = Metric("involuntary_switches", unit: "count", .neutral, .measured)
    static let processorPressureMilliseconds = Metric("cpu_pressure_ms", unit: "ms", .neutral, .measured)
    static let diskPressureMilliseconds = Metric("io_pressure_ms", unit: "ms", .neutral, .measured)
}
