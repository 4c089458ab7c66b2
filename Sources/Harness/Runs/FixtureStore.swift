import Measuring
import RunRecords
import Seeds

/// The prepared databases of a run, below `work/fixtures`.
///
/// Each is built once, in a worker process of its own, and copied for every case that needs it. No case can change the
/// original.
package struct FixtureStore {
    /// The result of building a fixture.
    package struct Built: Sendable {
        package var location: DatabaseLocation
        /// nil when the fixture exists and is verified.
        package var failure: WorkerEnd?
    }

    private let directory: String
    private let process: WorkerProcess
    private var built: [String: Built] = [:]

    package init(directory: String, process: WorkerProcess) {
        self.directory = directory
        self.process = process
    }

    /// The key of a fixture: equal keys mean equal content.
    package static func key(
        _ request: FixtureRequest, test: Case, engine: any Engine, buildDigest: String = ""
    ) -> String {
        let settings = engine.settings(for: test.durability)
        let list = settings.list.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        // The default recipe depends on the data set alone; any other belongs to its scenario.
        let recipe = request.recipe == FixtureRequest().recipe ? request.recipe : "\(test.scenario)/\(request.recipe)"
        let parameters = request.recipe == FixtureRequest().recipe ? "" : test.parameterText
        return StableHash.identifier(
            of: "engine=\(engine.name);version=\(engine.version);settings=\(list);dataset=\(test.dataset);"
                + "size=\(test.size);seed=\(test.seed);recipe=\(recipe);parameters=\(parameters)"
                + (buildDigest.isEmpty ? "" : ";build=\(buildDigest)")
                + (engine.file.map { ";file=\($0.digest)" } ?? "")
                + (engine.peerLibrary.map { ";library=\($0.digest)" } ?? ""))
    }

    /// The fixture, built on first use.
    package mutating func fixture(
        key: String, test: Case, files: EngineFiles = EngineFiles(), limits: WorkerLimits
    ) throws -> Built {
        if let existing = built[key] { return existing }
        let location = DatabaseLocation(directory: "\(directory)/\(key)")
        try FileTree.remove(location.directory)
        try FileTree.createDirectory(location.directory)
        let scratch = "\(directory)/\(key)-scratch"
        try FileTree.createDirectory(scratch)
        var request = WorkerRequest(
            task: .buildFixture, test: test, directory: scratch, fixture: location.directory,
            deadline: limits.hangTime)
        request.files = files
        // A fixture is built without mistakes, even where the environment asks for one.
        let end = try process.run(request, limits: limits, variables: ["\(SelfTest.variable)="])
        try FileTree.remove(scratch)
        let isVerified =
            end.stopped == nil && end.end == .exited(0) && end.report?.harnessFailure == nil
            && end.report?.outcomes == [OutcomeCount(outcome: .correct, count: 1)]
        let result = Built(location: location, failure: isVerified ? nil : end)
        built[key] = result
        return result
    }

    /// Copies a fixture to the directory of a case and syncs the copy, so that its dirty pages are not written while
    /// the case is measured.
    ///
    /// - Parameter constant: patterns of files that are never changed: hard-linked where the file system can.
    package func copy(
        _ fixture: Built, to target: String, linking constant: [String] = []
    ) throws -> DatabaseLocation {
        try FileTree.copy(from: fixture.location.directory, to: target, linking: constant)
        try FileTree.sync(target)
        return DatabaseLocation(directory: target)
    }

    /// The files of a fixture with their sizes and modification times, which a case that reads in place must not
    /// change.
    /// Files for locks and coordination come and go, and are left out.
    package static func state(of location: DatabaseLocation, engine: any Engine) throws -> [String] {
        try engine.files(at: location).filter { $0.role == .data || $0.role == .log }.map { file in
            "\(file.path) \(try FileTree.size(file.path)) \(try FileTree.changeTime(file.path))"
        }
    }

    /// The keys of the fixtures that are built, in order.
    package var keys: [String] { built.keys.sorted() }

    /// Frees the disk space of a fixture that no later case asks for.
    package mutating func discard(key: String) throws {
        guard let fixture = built.removeValue(forKey: key) else { return }
        try FileTree.remove(fixture.location.directory)
    }
}
