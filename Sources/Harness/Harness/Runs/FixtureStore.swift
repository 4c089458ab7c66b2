import Files
import Measuring
import RunRecords
import Seeds

/// The prepared databases of a run, below `work/fixtures`.
///
/// Each is built once, in a worker process of its own, and copied for every case that needs it. A case that reads in
/// place works on the original: the runner checks afterwards that the case changed no file of it.
package struct FixtureStore {
    /// The result of building a fixture.
    package struct Built: Sendable {
        package var location: DatabaseLocation
        /// How its worker ended, if that failed; nil if the fixture was built and verified.
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
        // The default recipe depends on the data set alone; any other recipe belongs to its scenario.
        let recipe = request.recipe == FixtureRequest().recipe ? request.recipe : "\(test.scenario)/\(request.recipe)"
        let parameters = request.recipe == FixtureRequest().recipe ? "" : test.parameterText
        return StableHash.identifier(
            of: "engine=\(engine.name);version=\(engine.version);settings=\(list);dataset=\(test.dataset);"
                + "size=\(test.size);seed=\(test.seed);recipe=\(recipe);parameters=\(parameters)"
                + (buildDigest.isEmpty ? "" : ";build=\(buildDigest)")
                + (engine.file.map { ";file=\($0.digest)" } ?? "")
                + (engine.peerLibrary.map { ";library=\($0.digest)" } ?? ""))
    }

    /// The fixture with this key, which is built when it is first asked for.
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
        // A fixture is built without planted mistakes, even if the environment asks for one.
        let end = try process.run(request, limits: limits, variables: ["\(MistakeVariable.name)="])
        try FileTree.remove(scratch)
        let isVerified =
            end.stopped == nil && end.end == .exited(0) && end.report?.harnessFailure == nil
            && end.report?.outcomes == [OutcomeCount(outcome: .correct, count: 1)]
        let result = Built(location: location, failure: isVerified ? nil : end)
        built[key] = result
        return result
    }

    /// Copies a fixture to the directory of a case and syncs the copy, so that the kernel does not write its dirty
    /// pages while the case is measured.
    ///
    /// - Parameter constant: patterns of files that are never changed. They are hard-linked if the file system can do
    ///   that.
    package func copy(
        _ fixture: Built, to target: String, linking constant: [String] = []
    ) throws -> DatabaseLocation {
        try FileTree.copy(from: fixture.location.directory, to: target, linking: constant)
        try FileTree.sync(target)
        return DatabaseLocation(directory: target)
    }

    /// The files of a fixture with their sizes and modification times. A case that reads in place must not change them.
    /// The list leaves out the files for locks and coordination: an open may create or remove them.
    package static func state(of location: DatabaseLocation, engine: any Engine) throws -> [String] {
        try engine.files(at: location).filter { $0.role == .data || $0.role == .log }.map { file in
            "\(file.path) \(try FileTree.size(file.path)) \(try FileTree.changeTime(file.path))"
        }
    }

    /// The keys of the fixtures that are built, in order.
    package var keys: [String] { built.keys.sorted() }

    /// Removes a fixture that no later case needs, and so frees its disk space.
    package mutating func discard(key: String) throws {
        guard let fixture = built.removeValue(forKey: key) else { return }
        try FileTree.remove(fixture.location.directory)
    }
}
