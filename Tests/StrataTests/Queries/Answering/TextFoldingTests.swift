import Foundation
import Testing

@testable import Strata

@Suite struct TextFoldingTests {
    @Test(
        "case is ignored in every script",
        arguments: [
            ("STRASSE", "straße"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ǅ", "ǆ"), ("ﬁ", "FI"),
            ("ÅNGSTRÖM", "a\u{30A}ngstro\u{308}m"),
            ("K", "k"), ("ſ", "S"), ("İ", "i\u{307}"), ("Ω", "ω"), ("ẞ", "SS"), ("Ꭰ", "ꭰ"), ("AbC", "aBc"),
        ])
    func ignoredCase(a: String, b: String) {
        #expect(TextFolding.fold(a, .ignoringCase) == TextFolding.fold(b, .ignoringCase))
        let once = TextFolding.fold(a, .ignoringCase)
        #expect(TextFolding.fold(String(decoding: once, as: UTF8.self), .ignoringCase) == once)
    }

    @Test(
        "accents do not count",
        arguments: [
            ("crème brûlée", "creme brulee"), ("Zoë", "Zoe"), ("Việt", "Viet"), ("か\u{3099}", "か"), ("ά", "α"),
            ("ñ", "n"),
        ])
    func ignoredAccents(a: String, b: String) {
        #expect(TextFolding.fold(a, .ignoringDiacritics) == TextFolding.fold(b, .ignoringDiacritics))
    }

    @Test("a separate letter is not folded", arguments: [("ı", "i"), ("कि", "क"), ("ø", "o"), ("e", "f"), ("^", "")])
    func separateLetter(a: String, b: String) {
        let all: TextOptions = [.ignoringCase, .ignoringDiacritics]
        #expect(TextFolding.fold(a, all) != TextFolding.fold(b, all))
    }

    @Test("a letter does not match its accented form, unless accents are ignored")
    func accentedForm() {
        func contains(_ text: String, _ part: String, _ options: TextOptions) -> Bool {
            let test = TextTest(.contains, Array(part.utf8), options)
            return Array(text.utf8).withUnsafeBytes { test.holds($0) }
        }
        #expect(!contains("CAFE\u{301}", "cafe", .ignoringCase))
        #expect(contains("CAFE\u{301}", "café", .ignoringCase))
        #expect(contains("CAFÉ", "cafe", [.ignoringCase, .ignoringDiacritics]))
        #expect(contains("abc", "", .ignoringCase) && contains("日本語", "本", .ignoringCase))
    }

    @Test("patterns match whole characters")
    func wholeCharacters() {
        func like(_ text: String, _ pattern: String, _ options: TextOptions = []) -> Bool {
            let test = TextTest(.like, Array(pattern.utf8), options)
            return Array(text.utf8).withUnsafeBytes { test.holds($0) }
        }
        #expect(like("👨‍👩‍👧!", "?!") && like("e\u{301}", "?") && like("a\r\nb", "a?b") && !like("ab", "a"))
        #expect(
            like("", "*") && like("", "") && !like("", "?") && like("abcabc", "*c*b?")
                && like("ABC", "a*", .ignoringCase))
        #expect(!like(String(repeating: "a", count: 500), String(repeating: "*a", count: 50) + "b"))
    }
}
