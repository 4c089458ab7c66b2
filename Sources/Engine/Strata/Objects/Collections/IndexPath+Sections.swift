#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if !canImport(UIKit) && !canImport(AppKit)
    /// Apple's user interface frameworks define these; on other systems this does.
    extension IndexPath {
        public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
        public init(row: Int, section: Int) { self.init(indexes: [section, row]) }
        public var section: Int { self[0] }
        public var item: Int { self[1] }
        public var row: Int { self[1] }
    }
#endif
