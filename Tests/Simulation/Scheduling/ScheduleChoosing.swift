import FaultModel
import Seeds

/// Chooses the thread that runs next.
protocol ScheduleChoosing {
    /// - Parameters:
    ///   - count: the number of runnable threads, at least two. Number 0 is the running one, unless `isForced`.
    ///   - isForced: the running thread cannot continue.
    mutating func choose(among count: Int, isForced: Bool) -> Int
}

/// Keeps the running thread, and at times chooses a runnable one at random; the seed sets how often.
struct SeededSchedule: ScheduleChoosing {
    private var random: RandomStream
    private let share: Int

    init(_ seed: Seed) {
        random = RandomStream(seed)
        // Schedules with few switches and with many find different bugs.
        share = 2 << random.below(5)
    }

    mutating func choose(among count: Int, isForced: Bool) -> Int {
        if !isForced, !random.chance(1, in: share) { return 0 }
        return random.below(count)
    }
}

/// Visits all schedules of a history with at most the given number of preemptions.
///
/// Each run follows a prefix of choices and then continues without preemption. It records alternative choices, and the
/// last of them starts the next run.
final class ScheduleExploration: ScheduleChoosing {
    private struct Choice {
        var taken: Int
        var count: Int
        var isForced: Bool
        /// The number of preemptions before it.
        var preemptions: Int
    }

    private let limit: Int
    private var choices: [Choice] = []
    private var place = 0
    private var preemptions = 0
    private(set) var schedules = 0

    init(preemptions limit: Int) { self.limit = limit }

    func choose(among count: Int, isForced: Bool) -> Int {
        if place == choices.count {
            choices.append(Choice(taken: 0, count: count, isForced: isForced, preemptions: preemptions))
        }
        let choice = choices[place]
        precondition(
            choice.count == count && choice.isForced == isForced,
            "the same schedule gives other choices: not repeatable")
        place += 1
        if !isForced, choice.taken > 0 { preemptions += 1 }
        return choice.taken
    }

    /// Ends a run and prepares the next one; false when all were visited.
    func next() -> Bool {
        schedules += 1
        // Drops the records of a shorter run.
        choices.removeLast(choices.count - place)
        place = 0
        preemptions = 0
        while let last = choices.popLast() {
            let taken = last.taken + 1
            if taken < last.count, last.isForced || last.preemptions < limit {
                var choice = last
                choice.taken = taken
                choices.append(choice)
                return true
            }
        }
        return false
    }

    /// The choices of the present run, in a repeatable form.
    var description: String { Self.encode(choices.prefix(place).map(\.taken)) }

    /// Runs of zeros are written as their length.
    private static func encode(_ taken: [Int]) -> String {
        var text = ""
        var zeros = 0
        for choice in taken {
            if choice == 0 {
                zeros += 1
            } else {
                text += "\(zeros).\(choice),"
                zeros = 0
            }
        }
        return text + "\(zeros)"
    }
}

/// Follows a schedule that ``ScheduleExploration`` described.
struct ScheduleReplay: ScheduleChoosing {
    /// The positions of choices that are not 0.
    private var taken: [Int: Int] = [:]
    private var place = 0

    /// nil if the text is not a schedule.
    init?(_ text: String) {
        var at = 0
        for part in text.split(separator: ",") {
            let numbers = part.split(separator: ".").map { Int($0) }
            guard let zeros = numbers.first ?? nil else { return nil }
            at += zeros
            if numbers.count == 1 { continue }
            guard numbers.count == 2, let choice = numbers[1] else { return nil }
            taken[at] = choice
            at += 1
        }
    }

    mutating func choose(among count: Int, isForced: Bool) -> Int {
        defer { place += 1 }
        return min(count - 1, taken[place] ?? 0)
    }
}
