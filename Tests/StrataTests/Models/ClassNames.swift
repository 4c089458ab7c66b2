@testable import Strata

/// What discovery finds, for tests that use the public interface otherwise.
enum ClassNames {
    static func discovered() -> [String] { ClassDiscovery.allClasses().map { $0.className() } }
}
