/// Quotes text so that a shell reads it as one word, for the commands that a report shows.
package enum ShellWord {
    package static func quoted(_ text: String) -> String {
        let plain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-_./:=,+@%".utf8.contains(byte)
            }
        }
        if plain, !text.isEmpty { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
