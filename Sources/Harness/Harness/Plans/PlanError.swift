import JSONText

/// A mistake in a plan, or in another file that people write, with its place.
package struct PlanError: Error, Equatable, CustomStringConvertible {
    package var file: String
    package var message: String
    package var position: TextPosition?

    package init(file: String, _ message: String, at position: TextPosition? = nil) {
        self.file = file
        self.message = message
        self.position = position
    }

    package var description: String {
        guard let position else { return "\(file): \(message)" }
        return "\(file):\(position.line):\(position.column): \(message)"
    }
}

extension JSONNode {
    /// Reads a plan, or another file that people write, as JSON5.
    package static func read(_ text: String, file: String) throws(PlanError) -> JSONNode {
        do { return try JSONReader.node(text, .json5) } catch {
            throw PlanError(file: file, error.message, at: error.position)
        }
    }
}
