/// Why a file cannot be used as an engine, with the remedy for its author or its user.
package struct LibraryError: Error, CustomStringConvertible {
    package var path: String
    package var message: String
    package var remedy: String

    package init(_ path: String, _ message: String, remedy: String) {
        self.path = path
        self.message = message
        self.remedy = remedy
    }

    package var description: String { "\(path): \(message). \(remedy)" }

    static let header = "assay_engine.h says what it has to be"
}
