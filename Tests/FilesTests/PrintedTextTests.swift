import Files
import Testing

@Suite struct PrintedTextTests {
    @Test("`escaped` replaces each control character by a readable escape")
    func escaped() {
        #expect(PrintedText.escaped("a plain line: \u{E9}, \u{1F600}") == "a plain line: \u{E9}, \u{1F600}")
        let steering = PrintedText.escaped("\u{1B}]0;owned\u{7}\u{1B}[2Jbad\r\n\t")
        #expect(steering == "\\x1B]0;owned\\x07\\x1B[2Jbad\\x0D\\x0A\\x09")
        #expect(PrintedText.escaped([0x61, 0xE9, 0x62, 0xC3]) == "a\\xE9b\\xC3")
        #expect(PrintedText.escaped("\u{9B}2J\u{202E}") == "\\xC2\\x9B2J\\xE2\\x80\\xAE")
    }
}
