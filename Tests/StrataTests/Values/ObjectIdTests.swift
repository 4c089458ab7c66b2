import Foundation
import Platform
import Strata
import Testing

@Suite struct ObjectIdTests {
    @Test("an identifier is a literal, text, or made of a time, a machine and a process")
    func identifierForms() throws {
        let id = ObjectId("65e0ffff0102030405060708")
        #expect(try id == ObjectId(string: "65E0FFFF0102030405060708") && id.stringValue == "65e0ffff0102030405060708")
        #expect(id.timestamp == Date(timeIntervalSince1970: 0x65E0_FFFF))
        #expect(throws: Realm.Error.self) { try ObjectId(string: "65e0ffff") }
        let moment = Date(timeIntervalSince1970: 1_709_244_415.75)
        let (first, second) = (
            ObjectId(timestamp: moment, machineId: 0x01_0203, processId: 0x0405),
            ObjectId(timestamp: moment, machineId: 0x01_0203, processId: 0x0405)
        )
        #expect(first != second && first.stringValue.hasPrefix("65e0ffff0102030405"))
        #expect(first.timestamp == Date(timeIntervalSince1970: 1_709_244_415))
    }

    @Test("generated identifiers differ and contain their creation time")
    func generatedIdentifiers() {
        let before = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let ids = (0..<100).map { _ in ObjectId.generate() }
        #expect(Set(ids).count == 100 && ids.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() })
    }
}

#if canImport(Glibc)
    /// Swift does not import `fork`: a forked child may do little before it calls `exec`. The child of this test does
    /// not call `exec`, because it has to inherit the state of the generator.
    @_silgen_name("fork") private func forkProcess() -> pid_t

    /// A forked child once continued with the random bits and the counter of its parent: in one second both generated
    /// the same identifiers.
    @Suite struct ForkedObjectIdTests {
        /// Makes 100 identifiers with `generate`, and two for the same time, machine and process.
        /// - Returns: the 16 digits of each that follow those of its seconds.
        private static func ends() -> [Substring] {
            let moment = Date(timeIntervalSince1970: 1_709_244_415)
            let made = (0..<2).map { _ in ObjectId(timestamp: moment, machineId: 0x01_0203, processId: 0x0405) }
            return ((0..<100).map { _ in ObjectId.generate() } + made).map { $0.stringValue.dropFirst(8) }
        }

        @Test("a forked child makes other identifiers than its parent") func otherThanParent() async {
            // The test forks a process of its own, in which no thread of another test runs.
            await #expect(processExitsWith: .success) {
                #expect(Set(Self.ends()).count == 102)
                var pipes: [Int32] = [0, 0]
                let isOpen = pipe(&pipes) == 0
                try #require(isOpen)
                let child = forkProcess()
                if child == 0 {
                    alarm(20)
                    let text = Array(Self.ends().joined().utf8)
                    _exit(write(pipes[1], text, text.count) == text.count ? 0 : 1)
                }
                close(pipes[1])
                let own = Set(Self.ends())
                var bytes = [UInt8](repeating: 0, count: 4096)
                var count = 0
                while true {
                    let more = bytes.withUnsafeMutableBytes { read(pipes[0], $0.baseAddress! + count, 4096 - count) }
                    if more <= 0 { break }
                    count += more
                }
                var status: Int32 = -1
                waitpid(child, &status, 0)
                try #require(status == 0 && count == 102 * 16)
                let others = stride(from: 0, to: count, by: 16).map {
                    String(decoding: bytes[$0..<($0 + 16)], as: UTF8.self)
                }
                #expect(Set(others).count == 102)
                #expect(own.isDisjoint(with: others.map { $0[...] }))
            }
        }
    }
#endif
