@testable import Strata

/// The classes that discovery finds, for tests that otherwise use the public interface.
enum ClassNames {
    static func discovered() -> [String] { ClassDiscovery.allClasses().map { $0.className() } }

    /// The names of the classes that a program opens by discovery in its image.
    static func opened(found types: [ObjectBase.Type]) throws -> [String] {
        try ClassPlan.closure(of: types, named: false).map(\.name)
    }
}
