@testable import Strata

/// What discovery finds, for tests that use the public interface otherwise.
enum ClassNames {
    static func discovered() -> [String] { ClassDiscovery.allClasses().map { $0.className() } }

    /// The names of the classes that a program opens in whose image these are found.
    static func opened(found types: [ObjectBase.Type]) throws -> [String] {
        try ClassPlan.closure(of: types, named: false).map(\.name)
    }
}
