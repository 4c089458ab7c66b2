import Measuring
import Platform

// Times ten commits to a log in the directory of the first argument, as scenarios do, and prints the witness's answers.
// With `lie` as the second argument nothing is synced.
let words = CommandLine.arguments
let witness = IOWitness.shared
print("witness", witness == nil ? "absent" : "present")
if let witness {
    guard witness.setRoot([words[1]]), witness.setLogNames(["*.log"]) else { exit(2) }
}
let start = witness?.counts() ?? IOCounts()
let latency = LatencyRecorder(witness: witness)
let descriptor = open(words[1] + "/commits.log", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
guard descriptor >= 0 else { exit(2) }
for index in 0..<10 {
    latency.time {
        guard pwrite(descriptor, "record", 6, index * 6) == 6 else { exit(2) }
        if words.last != "lie", fdatasync(descriptor) != 0 { exit(2) }
    }
}
close(descriptor)
let counts = (witness?.counts() ?? IOCounts()) - start
let commits = latency.commits
print("commits", latency.histogram.count, "synced", commits.synced, "unsynced", commits.unsynced)
print("writes", counts.writeCalls, "bytes", counts.writtenBytes, "syncs", counts.allSyncs)
