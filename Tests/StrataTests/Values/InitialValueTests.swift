import Foundation
import Strata
import Testing

@Suite struct InitialValueTests {
    struct Moment: CustomPersistable, Hashable {
        let date: Date
        init(persistedValue: Date) { date = persistedValue }
        var persistableValue: Date { date }
    }

    final class Ticket: Object {
        @Persisted(primaryKey: true) var id: ObjectId
        @Persisted var token: UUID
        @Persisted var sold: Date
        @Persisted var printed: Moment
        @Persisted var returned: Date?
    }
    final class Token: Object {
        @Persisted(primaryKey: true) var id: UUID
        @Persisted var seat = 0
    }

    @Test("objects without an explicit identifier get different ones")
    func differentIdentifiers() throws {
        let realm = try makeRealm([Ticket.self, Token.self])
        let tickets = (0..<3).map { _ in Ticket() }
        #expect(Set(tickets.map(\.id)).count == 3 && !tickets.map(\.id).contains(ObjectId()))
        #expect(tickets[0].id == tickets[0].id && tickets[0].token == tickets[0].token)
        let id = tickets[0].id
        try realm.write {
            realm.add(tickets)
            for _ in 0..<3 { realm.add(Token()) }
            for _ in 0..<3 { realm.create(Token.self, value: [String: Any]()) }
        }
        #expect(realm.objects(Ticket.self).count == 3 && realm.objects(Token.self).count == 6)
        #expect(tickets[0].id == id && realm.object(ofType: Ticket.self, forPrimaryKey: id) == tickets[0])
        #expect(Set(realm.objects(Ticket.self).map(\.token)).count == 3)
        let token = tickets[1].token
        #expect(tickets[1].token == token && token != UUID(uuidString: "00000000-0000-0000-0000-000000000000"))
    }

    @Test("dates without an explicit value are those of their first read")
    func datesOfTheFirstRead() throws {
        let before = Date()
        let ticket = Ticket()
        let sold = ticket.sold
        #expect(sold >= before && sold <= Date() && ticket.sold == sold && ticket.returned == nil)
        #expect(ticket.printed.date >= before)
        let realm = try makeRealm([Ticket.self])
        let unseen = Ticket()
        try realm.write { realm.add([ticket, unseen]) }
        #expect(ticket.sold == sold && unseen.sold >= before && unseen.sold <= Date())
        #expect(unseen.printed.date >= before)
    }

    final class Room: Object {
        @Persisted var name = ""
    }

    @Test("rows older than a property read one fixed default")
    func olderRows() throws {
        let realm = try makeRealm([Ticket.self])
        let ticket = Ticket()
        try realm.write { realm.add(ticket) }
        let live = try #require(realm.objects(Ticket.self).first)
        let id = live.id
        try realm.write { realm.delete(live) }
        // A deleted object reads as a default that is the same in two reads.
        #expect(live.id == id && live.token == live.token && live.sold == Date(timeIntervalSince1970: 0))
    }
}
