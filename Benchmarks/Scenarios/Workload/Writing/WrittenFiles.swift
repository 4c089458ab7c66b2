import Harness

/// The marks of an engine's write-back in the files of an open database, at one moment.
struct WrittenFiles {
    private let engine: any Engine
    private let location: DatabaseLocation
    private let before: [String]

    init(_ engine: any Engine, _ location: DatabaseLocation) {
        self.engine = engine
        self.location = location
        before = engine.writeBackMarks(at: location)
    }

    var haveChanged: Bool { engine.writeBackMarks(at: location) != before }
}
