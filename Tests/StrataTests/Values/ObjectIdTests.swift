import Foundation
import Strata
import Testing

@Suite struct ObjectIdTests {
    @Test func `an identifier is a literal, text, or made of a time, a machine and a process`() throws {
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

    @Test func `generated identifiers differ and contain their creation time`() {
        let before = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let ids = (0..<100).map { _ in ObjectId.generate() }
        #expect(Set(ids).count == 100 && ids.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() })
    }
}
