import FaultModel
import Seeds
import SimulatedDisk
import StrataFiles
import Synchronization
import Testing

@Suite struct SimulatedDiskThreadTests {
    @Test("threads write their own files under their own names")
    func threadsWithNames() throws {
        let disk = SimulatedDisk(seed: Seed(1))
        let finished = Atomic<Int>(0)
        let failures = Mutex<[String]>([])
        let scheduling = SystemScheduling()
        let monitor = scheduling.makeMonitor("test")
        for thread in 0..<4 {
            _ = scheduling.spawn("writer") {
                do {
                    disk.setOperation("work-\(thread)", actor: "thread-\(thread)")
                    let file = try disk.open("file-\(thread)", .createNew)
                    let map = try file.map(reserve: 1 << 20)
                    for step in 0..<50 {
                        try file.put(filled(UInt8(step), 700), at: Int64(step * 700))
                        let read = map.base.load(fromByteOffset: step * 700 + 699, as: UInt8.self)
                        if read != UInt8(step) { failures.withLock { $0.append("map of \(thread), step \(step)") } }
                    }
                    try file.syncData()
                    try disk.syncDirectory(of: "file-\(thread)")
                } catch { failures.withLock { $0.append("\(error)") } }
                monitor.withLock {
                    finished.add(1, ordering: .relaxed)
                    monitor.wakeAll()
                }
            }
        }
        monitor.withLock { while finished.load(ordering: .relaxed) < 4 { monitor.wait() } }
        #expect(failures.withLock { $0 } == [])
        let left = disk.crash(StateMask())
        for thread in 0..<4 {
            let expected = (0..<50).flatMap { filled(UInt8($0), 700) }
            #expect(left.contents(of: "file-\(thread)") == expected)
            let writes = disk.trace.map(\.identity).filter { $0.actor == "thread-\(thread)" && $0.kind == .write }
            #expect(writes.map(\.index) == Array(0..<50))
            #expect(writes.allSatisfy { $0.label == "work-\(thread)" })
        }
    }

    @Test("work of a thread without a name is background work of the last operation")
    func threadWithoutAName() throws {
        let disk = SimulatedDisk(seed: Seed(1))
        disk.setOperation("commit-9")
        let scheduling = SystemScheduling()
        let monitor = scheduling.makeMonitor("test")
        let isDone = Mutex(false)
        _ = scheduling.spawn("checkpoint") {
            let failed = (try? disk.open("a", .createNew)) == nil
            monitor.withLock {
                isDone.withLock { $0 = !failed }
                monitor.wakeAll()
            }
        }
        monitor.withLock { while !isDone.withLock({ $0 }) { monitor.wait() } }
        #expect(disk.trace.map(\.identity.description) == ["commit-9/background/data/create/0"])
    }
}
