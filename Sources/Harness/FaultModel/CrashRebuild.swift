/// Rebuilds the crash states of a trace by their addresses, one after the other.
///
/// Complexity: steps in the order of the trace cost the distance between them; a step back restarts the trace.
package struct CrashRebuild: Sendable {
    private let base: DiskImage
    private let trace: [IORecord]
    private let profile: CrashProfile
    private var model: DiskModel
    private var point: CrashPoint?

    package init(base: DiskImage, trace: [IORecord], profile: CrashProfile) {
        self.base = base
        self.trace = trace
        self.profile = profile
        model = DiskModel(base, profile: profile)
    }

    /// nil where the trace has no such operation, or the mask is not the canonical one of a state.
    package mutating func image(at step: CrashAddress.Step) -> DiskImage? {
        guard !step.isKill, step.operation <= trace.count else { return nil }
        if step.operation < model.operations {
            model = DiskModel(base, profile: profile)
            point = nil
        }
        if model.operations < step.operation {
            for record in trace[model.operations..<step.operation] { model.apply(record) }
            point = nil
        }
        let here = point ?? CrashPoint(model)
        point = here
        guard here.normalized(step.state) == step.state else { return nil }
        var image = here.image(of: step.state)
        image.dropUnnamed()
        return image
    }
}
