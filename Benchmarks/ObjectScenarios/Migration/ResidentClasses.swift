import Strata

/// One class in four versions of an application: names are joined, then renamed; a year of birth becomes an age; the
/// age becomes required; a link and a list stay throughout.
enum Version0 {
    final class Resident: Object {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var firstName = ""
        @Persisted var lastName = ""
        @Persisted var birthYear = 0
        @Persisted var friend: Resident?
        @Persisted var neighbours: List<Resident>
        override class func className() -> String { "Resident" }
    }
}

enum Version1 {
    final class Resident: Object {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var fullName = ""
        @Persisted var birthYear = 0
        @Persisted var friend: Resident?
        @Persisted var neighbours: List<Resident>
        override class func className() -> String { "Resident" }
    }
}

enum Version2 {
    final class Resident: Object {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var name = ""
        @Persisted var age: Int?
        @Persisted var friend: Resident?
        @Persisted var neighbours: List<Resident>
        override class func className() -> String { "Resident" }
    }
}

enum Version3 {
    final class Resident: Object {
        @Persisted(primaryKey: true) var number: Int
        @Persisted var name = ""
        @Persisted var age = 0
        @Persisted var isAdult = false
        @Persisted var friend: Resident?
        @Persisted var neighbours: List<Resident>
        override class func className() -> String { "Resident" }
    }
}
