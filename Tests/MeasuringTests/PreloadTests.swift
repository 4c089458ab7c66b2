import Testing

@testable import Measuring

/// The environment of a child with the preloaded library.
@Suite struct PreloadEnvironmentTests {
    @Test(
        "earlier preloaded libraries stay first, ours is last",
        arguments: [
            ("", "/b/ours.so"), ("/a/other.so", "/a/other.so:/b/ours.so"),
            ("/a/one.so /a/two.so", "/a/one.so:/a/two.so:/b/ours.so"),
            // The library is preloaded already, as in a run inside a run.
            ("/b/ours.so:/a/other.so", "/a/other.so:/b/ours.so"),
        ])
    func environment(existing: String, expected: String) {
        #expect(Preload.environment(adding: "/b/ours.so", to: Array(existing.utf8)) == Array(expected.utf8))
    }

    @Test("no library is found beside a program built without it")
    func noLibrary() {
        #expect(Preload.library(besides: "/bin/sh") == nil)
        #expect(Preload.library(besides: "/no/such/program") == nil)
    }

    @Test("this process does not run under it, and reports that")
    func noWitness() {
        #expect(IOWitness.shared == nil)
        let recorder = LatencyRecorder(witness: .shared)
        recorder.time {}
        #expect(recorder.histogram.count == 1)
        #expect(recorder.commits.total == 0)
    }

    @Test("every count has its own index, and a difference is taken of each")
    func counts() {
        let numbers = (0..<IOCounts.fields.count).map { UInt64($0 * $0) }
        let counts = IOCounts(words: numbers)
        #expect(IOCounts.fields.map { counts[keyPath: $0.path] } == numbers)
        #expect((counts - counts) == IOCounts())
        #expect((counts - IOCounts()) == counts)
    }
}

/// Bytes at a device of the run's own.
@Suite struct DeviceCounterTests {
    private let mounts = """
        21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
        30 21 0:25 / /tmp rw - tmpfs tmpfs rw
        31 21 7:1 / /media/scratch\\040disk rw - ext4 /dev/loop1 rw
        32 21 7:2 / /media/twice rw - ext4 /dev/loop2 rw
        33 21 7:2 /part /elsewhere rw - ext4 /dev/loop2 rw
        34 31 7:3 / /media/scratch\\040disk/deeper rw - xfs /dev/loop3 rw
        """

    @Test(
        "only a file system that is mounted once, on a block device and not at the root, has a figure",
        arguments: [
            ("/var/other", nil), ("/tmp/run", nil), ("/media/twice/run", nil), ("/elsewhere/run", nil),
            ("/media/scratch disk", "/sys/dev/block/7:1/stat"), ("/media/scratch disk/run", "/sys/dev/block/7:1/stat"),
            ("/media/scratch disks", nil), ("/media/scratch disk/deeper/run", "/sys/dev/block/7:3/stat"),
        ])
    func place(directory: String, expected: String?) {
        #expect(DeviceCounter(directory: directory, mounts: mounts)?.statisticsPath == expected)
    }

    @Test("sectors written are the seventh number, of 512 bytes each")
    func statistics() {
        let text =
            "     100        0      800       20       50        3     1000       60        0       70       80\n"
        #expect(DeviceCounter.writtenBytes(statistics: text) == 512_000)
        #expect(DeviceCounter.writtenBytes(statistics: "") == nil)
    }

    @Test("a missing directory has no figure of a device")
    func missing() {
        #expect(DeviceCounter(directory: "/no/such/directory") == nil)
    }
}
